import { catalogue } from "../../inbound/providers/catalogue.ts";
import type { Provider, Sample } from "../../inbound/providers/provider.ts";
import { signedSample } from "../../inbound/providers/signed-sample.ts";

import { type Plot, plotOf, sceneOf, type Step, told } from "./scenes.ts";

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
  /** After signing, as some proxies do. */
  readonly isReformatted?: boolean;
}

/** Posts a signed sample of a provider, told with a plot. */
export async function send(
  { url, secrets, now }: Sender,
  [id, type]: readonly [provider: string, type: string],
  plot: Plot,
  { change = (sample) => sample, secretOf = id, isReformatted = false }: SampleOptions = {},
): Promise<void> {
  const provider = catalogue.find((each) => each.id === id);
  const sample = provider?.samples[type];
  if (provider === undefined || sample === undefined) throw new Error(`No sample: ${id} ${type}`);
  const fresh = { id: crypto.randomUUID(), now: new Date(now()) };
  const key = { secret: secrets.get(secretOf) ?? "" };
  const { headers, bytes } = signedSample(
    provider,
    change(told(plot)(sample), provider),
    key,
    fresh,
  );
  const body = isReformatted ? JSON.stringify(JSON.parse(bytes.toString()), null, 2) : bytes;
  // An error: the service is stopping.
  await fetch(`${url}webhooks/${id}`, { method: "POST", headers, body }).catch(() => {});
}

/** Of so many scenes, a proxy spoils the first webhook of one. */
const spoiltEvery = 12;

/** Plays scenes from a number on, the first three webhooks at once, until the process ends. */
export function playScenes(sender: Sender, first: number): void {
  let sent = 0;
  const play = (number: number, plot: Plot, left: readonly Step[]): void => {
    const [step, ...others] = left;
    if (step === undefined) return play(number + 1, plotOf(number + 1), sceneOf(number + 1));
    const [, provider, type, changes] = step;
    const isReformatted =
      provider === "code_host" && (number - first) % spoiltEvery === spoiltEvery / 2;
    const played = { ...plot, ...changes };
    void send(sender, [provider, type], played, { isReformatted }).finally(() => {
      sent += 1;
      const pauseMs = sent < 3 ? 0 : 2_000 + Math.random() * 7_000;
      setTimeout(() => play(number, plot, others), pauseMs).unref();
    });
  };
  play(first, plotOf(first), sceneOf(first));
}
