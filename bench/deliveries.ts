import { catalogue } from "../src/inbound/providers/catalogue.ts";
import { signatureHeaders } from "../src/inbound/signatures/scheme.ts";
import { sign } from "../src/inbound/signatures/sign.ts";

import { packRequests, type Requests } from "./requests.ts";

/** Deliveries of one listed event of a provider, signed with `secret`. */
export interface DeliveryPlan {
  readonly provider: string;
  readonly event: string;
  readonly secret: string;
}

/** Makes `count` deliveries with unique ids, bodies and signatures. */
export function signedDeliveries(
  { provider: id, event, secret }: DeliveryPlan,
  count: number,
): Requests {
  const provider = catalogue.find((candidate) => candidate.id === id);
  const makeSample = provider?.samples[event];
  if (provider === undefined || makeSample === undefined) {
    throw new Error(`No sample for ${id} ${event}`);
  }
  return packRequests(count, () => {
    const { headers, body } = makeSample({ id: crypto.randomUUID(), now: new Date() });
    const json = JSON.stringify(body);
    const signature = sign(provider.signature, secret, Buffer.from(json), Date.now());
    return {
      method: "POST",
      path: `/webhooks/${id}`,
      headers: { ...headers, [signatureHeaders(provider.signature)[0] ?? ""]: signature },
      json,
    };
  });
}
