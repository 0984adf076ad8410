import type { Fresh, Provider, SampleDelivery } from "./provider.ts";
import { sign } from "../signatures/signature.ts";

/** A sample delivery with its signature, ready to post. */
export interface SignedSample {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer<ArrayBuffer>;
}

/**
 * Signs a sample as its provider would, following the specification's test procedure. `signedAtMs`: the
 * signed time, if the scheme has one.
 */
export function signedSample(
  { signature }: Pick<Provider, "signature">,
  sample: SampleDelivery,
  secret: string,
  fresh: Fresh,
  signedAtMs = fresh.now.getTime(),
): SignedSample {
  const { headers, body } = sample(fresh);
  const bytes = Buffer.from(JSON.stringify(body));
  const [header = ""] = signature.headers;
  const signed = sign(signature, secret, bytes, signedAtMs);
  return { headers: { "content-type": "application/json", ...headers, [header]: signed }, bytes };
}
