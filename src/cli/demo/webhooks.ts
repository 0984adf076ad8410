import { catalogue } from "../../inbound/providers/catalogue.ts";
import type { Provider, Sample } from "../../inbound/providers/provider.ts";
import { signedSample } from "../../inbound/providers/signed-sample.ts";

/** Where and how requests are sent. */
export interface Sender {
  /** The server. Ends with a slash. */
  readonly url: string;
  /** Of each provider. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly now: () => number;
}

export interface SampleOptions {
  readonly change?: (sample: Sample, provider: Provider) => Sample;
  /** Whose secret signs it: by default the provider's. */
  readonly secretOf?: string;
  /** After signing. */
  readonly isAltered?: boolean;
}

/** Posts a signed sample of a provider. */
export async function send(
  { url, secrets, now }: Sender,
  id: string,
  type: string,
  { change = (sample) => sample, secretOf = id, isAltered = false }: SampleOptions = {},
): Promise<void> {
  const provider = catalogue.find((each) => each.id === id);
  const sample = provider?.samples[type];
  if (provider === undefined || sample === undefined) throw new Error(`No sample: ${id} ${type}`);
  const fresh = { id: crypto.randomUUID(), now: new Date(now()) };
  const key = { secret: secrets.get(secretOf) ?? "" };
  const { headers, bytes } = signedSample(provider, change(sample, provider), key, fresh);
  const body = isAltered ? Buffer.from(bytes.toString().replace(/}$/, ',"changed":true}')) : bytes;
  // An error: the service is stopping.
  await fetch(`${url}webhooks/${id}`, { method: "POST", headers, body }).catch(() => {});
}

/** All but those of a bad deploy: the only one is the story's. */
const samples = catalogue.flatMap(({ id, samples: all }) =>
  Object.keys(all).flatMap((type) => (type === "deploy.error" ? [] : [[id, type] as const])),
);

/** Posts a sample, the same for each number. */
export function sendAny(sender: Sender, number: number, how?: SampleOptions): Promise<void> {
  const [id, type] = samples[Bun.hash.crc32(String(number)) % samples.length] ?? ["", ""];
  return send(sender, id, type, how);
}

/** Posts samples, the first three at once, until the process ends. Of eight, one is rejected. */
export function sendSamples(sender: Sender, sent = 0): void {
  void sendAny(sender, sent, { isAltered: sent % 8 === 1 }).finally(() => {
    const pauseMs = 2_000 + Math.random() * 7_000;
    setTimeout(() => sendSamples(sender, sent + 1), sent < 2 ? 0 : pauseMs).unref();
  });
}
