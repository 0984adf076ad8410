import { catalogue } from "../src/webhooks/providers.ts";
import { sign } from "../src/webhooks/signature.ts";

/** What is posted: one listed event of one provider, signed with `secret`. */
export interface DeliveryPlan {
  readonly provider: string;
  readonly event: string;
  readonly secret: string;
}

/** Requests as bytes, made before any clock runs. */
export interface Deliveries {
  readonly count: number;
  readonly bodyBytes: number;
  request(index: number): Uint8Array;
}

/** Makes `count` whole HTTP requests; no two have the same id, body or signature. */
export function signedDeliveries(
  { provider: id, event, secret }: DeliveryPlan,
  count: number,
): Deliveries {
  const provider = catalogue.find((candidate) => candidate.id === id);
  const makeSample = provider?.samples[event];
  if (provider === undefined || makeSample === undefined) {
    throw new Error(`There is no sample of ${id} ${event}`);
  }

  const make = (): { readonly text: string; readonly bodyBytes: number } => {
    const { headers, body } = makeSample({ id: crypto.randomUUID(), now: new Date() });
    const json = JSON.stringify(body);
    const bytes = Buffer.from(json);
    const signature = sign(provider.signature, secret, bytes, Date.now());
    const lines = Object.entries({
      Host: "localhost",
      Accept: "*/*",
      "Content-Type": "application/json",
      "Content-Length": String(bytes.length),
      ...headers,
      [provider.signature.headers[0] ?? ""]: signature,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST /webhooks/${id} HTTP/1.1\r\n${lines.join("")}\r\n`;
    return { text: head + json, bodyBytes: bytes.length };
  };

  // One block of memory: hundreds of thousands of buffers would keep the collector busy while timing.
  const { text, bodyBytes } = make();
  const roomEach = text.length + 256;
  const block = Buffer.alloc(count * roomEach);
  const starts = new Uint32Array(count + 1);
  for (let index = 0; index < count; index += 1) {
    const start = starts[index] ?? 0;
    starts[index + 1] = start + block.write(make().text, start);
  }
  return {
    count,
    bodyBytes,
    request: (index) => block.subarray(starts[index], starts[index + 1]),
  };
}
