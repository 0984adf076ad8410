import type { Provider, Sample } from "../../inbound/providers/provider.ts";
import { signedSample } from "../../inbound/providers/signed-sample.ts";

/** Where and how requests are sent. */
export interface Sender {
  /** The server. Ends with a slash. */
  readonly url: string;
  readonly publicUrl: string | null;
  readonly providers: readonly Provider[];
  readonly secretOf: (id: string) => string | null;
  readonly now: () => number;
}

interface Change {
  /** Instead of the provider's. */
  readonly secret?: string | null | undefined;
  /** After signing. */
  readonly isAltered?: boolean;
}

/** Posts one sample of a provider, signed with its secret. */
export async function send(
  { url, publicUrl, secretOf, now }: Sender,
  provider: Provider,
  sample: Sample,
  { secret = secretOf(provider.id), isAltered = false }: Change = {},
): Promise<void> {
  if (secret === null) return;
  const fresh = { id: crypto.randomUUID(), now: new Date(now()) };
  const path = `webhooks/${provider.id}`;
  const signedUrl = publicUrl === null ? url + path : `${publicUrl}/${path}`;
  const signed = signedSample(provider, sample, { secret }, fresh, { url: signedUrl });
  const { headers, bytes } = signed;
  const body = isAltered ? Buffer.from(bytes.toString().replace(/}$/, ',"changed":true}')) : bytes;
  // An error: the service is stopping.
  await fetch(url + path, { method: "POST", headers, body }).catch(() => {});
}

/** Posts a sample, the same for each number. The demo's only bad deploy is its story's. */
export async function sendAny(sender: Sender, number: number, change?: Change): Promise<void> {
  const samples = sender.providers.flatMap((provider) =>
    Object.entries(provider.samples)
      .filter(([type]) => type !== "deploy.error")
      .map(([, sample]) => ({ provider, sample })),
  );
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
