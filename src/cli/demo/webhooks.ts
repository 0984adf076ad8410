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

interface Change {
  /** Instead of the provider's. */
  readonly secret?: string | undefined;
  /** After signing. */
  readonly isAltered?: boolean;
}

/** Posts a sample of a provider, signed with its secret. */
export async function send(
  { url, secrets, now }: Sender,
  provider: Provider,
  sample: Sample,
  { secret = secrets.get(provider.id) ?? "", isAltered = false }: Change = {},
): Promise<void> {
  const fresh = { id: crypto.randomUUID(), now: new Date(now()) };
  const signed = signedSample(provider, sample, { secret }, fresh);
  const body = isAltered
    ? Buffer.from(signed.bytes.toString().replace(/}$/, ',"changed":true}'))
    : signed.bytes;
  const request = { method: "POST", headers: signed.headers, body };
  // An error: the service is stopping.
  await fetch(`${url}webhooks/${provider.id}`, request).catch(() => {});
}

/** All but those of a bad deploy: the only one is the story's. */
const samples = catalogue.flatMap((provider) =>
  Object.entries(provider.samples)
    .filter(([type]) => type !== "deploy.error")
    .map(([, sample]) => ({ provider, sample })),
);

/** Posts a sample, the same for each number. */
export async function sendAny(sender: Sender, number: number, change?: Change): Promise<void> {
  const any = samples[Bun.hash.crc32(String(number)) % samples.length];
  if (any !== undefined) await send(sender, any.provider, any.sample, change);
}

/** Posts samples, the first three at once, until the process ends. Of eight, one is rejected. */
export function sendSamples(sender: Sender, sent = 0): void {
  void sendAny(sender, sent, { isAltered: sent % 8 === 1 }).finally(() => {
    const pauseMs = 2_000 + Math.random() * 7_000;
    setTimeout(() => sendSamples(sender, sent + 1), sent < 2 ? 0 : pauseMs).unref();
  });
}
