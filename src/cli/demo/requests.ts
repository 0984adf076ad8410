import { systemClock } from "../../base/clock.ts";
import type { Provider, Sample } from "../../inbound/providers/provider.ts";
import { signedSample } from "../../inbound/providers/signed-sample.ts";

import { castOf, chance, played } from "./cast.ts";
import type { Moment } from "./timeline.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The first requests are sent at once; further ones after a random pause. */
const firstRequests = 3;
/** Of this many requests, one is changed after signing and rejected, and one is sent twice. */
const oddEvery = 8;
const pauseMs = { least: 2_000, most: 9_000 };

/** How the past began; before it, there were no webhooks. */
const historyMs = 50 * hourMs;

/** Where and how requests are sent. */
export interface Sender {
  /** The server. Ends with a slash. */
  readonly url: string;
  readonly publicUrl: string | null;
  readonly providers: readonly Provider[];
  readonly secretOf: (id: string) => string | null;
  readonly now: () => number;
}

interface SecretSample {
  readonly provider: Provider;
  readonly secret: string;
  readonly sample: Sample;
  /** How often it is among past requests. */
  readonly weight: number;
}

const weights: Readonly<Record<string, number>> = {
  "payment_intent.succeeded": 12,
  "deploy.created": 5,
  "deploy.succeeded": 5,
  "deploy.error": 4,
  "workflow_run.completed": 6,
};

type Change = "none" | "changed" | "twice";

/** Posts signed samples of all providers and events in random order until the process ends. */
export function sendSamples(sender: Sender): void {
  const samples = samplesOf(sender);
  let waiting: SecretSample[] = [];
  let sent = 0;
  const next = async (): Promise<void> => {
    if (waiting.length === 0) waiting = shuffled(samples);
    const sample = waiting.pop();
    if (sample === undefined) return;
    const place = sent % oddEvery;
    await send(sender, sample, place === 1 ? "changed" : place === 2 ? "twice" : "none");
    sent += 1;
    const pause = pauseMs.least + Math.random() * (pauseMs.most - pauseMs.least);
    setTimeout(() => void next(), sent < firstRequests ? 0 : pause).unref();
  };
  void next();
}

/** The samples of all providers that have a secret. Each request has a cast of its own. */
function samplesOf({ providers, secretOf }: Sender): SecretSample[] {
  let made = 0;
  return providers.flatMap((provider): SecretSample[] => {
    const secret = secretOf(provider.id);
    if (secret === null) return [];
    const usual = provider.payments === undefined ? 3 : 1;
    return Object.entries(provider.samples).map(([type, sample]) => {
      const weight = weights[type] ?? usual;
      return {
        provider,
        secret,
        weight,
        sample: (fresh) => played(sample, castOf((made += 1)))(fresh),
      };
    });
  });
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const places = items.map((item) => ({ item, place: Math.random() }));
  return places.toSorted((one, other) => one.place - other.place).map(({ item }) => item);
}

/** Two days of requests. Some are rejected, each for another reason; one provider has been silent for a day. */
export function pastRequests(sender: Sender, previousSecretOf: Sender["secretOf"]): Moment[] {
  const samples = samplesOf(sender);
  const moments: Moment[] = [];
  const usual = samples.flatMap((each) => Array.from({ length: each.weight }, () => each));
  for (let agoMs = historyMs; agoMs > 0; agoMs -= gapBefore(agoMs)) {
    const sample = usual[Math.floor(chance(moments.length * 29) * usual.length)];
    if (sample === undefined) break;
    const isSilent = sample.provider.id === "shared_inbox" && agoMs < 26 * hourMs;
    moments.push({
      agoMs,
      happen: async () => (isSilent ? undefined : send(sender, sample, "none")),
    });
  }
  const odd = (minutesAgo: number, id: string, secret: string | null, change: Change) => {
    const sample = samples.find(({ provider }) => provider.id === id);
    if (sample === undefined) return;
    const signed = { ...sample, secret: secret ?? sample.secret };
    moments.push({
      agoMs: minutesAgo * minuteMs,
      happen: async () => send(sender, signed, change),
    });
  };
  odd(30 * 60, "code_host", previousSecretOf("code_host"), "none");
  odd(190, "deploy_platform", "the secret of another project", "none");
  odd(84, "task_tracker", `${sender.secretOf("task_tracker")} `, "none");
  odd(52, "code_host", null, "changed");
  odd(17, "code_host", sender.secretOf("deploy_platform"), "none");
  return moments;
}

/** The time to the next request: the older, the longer. */
function gapBefore(agoMs: number): number {
  if (agoMs > 6 * hourMs) return 11 * minuteMs;
  return agoMs > hourMs ? 4 * minuteMs : minuteMs;
}

async function send(sender: Sender, sample: SecretSample, change: Change): Promise<void> {
  const { headers, bytes } = prepared(sender, sample);
  const body =
    change === "changed" ? Buffer.from(bytes.toString().replace(/}$/, ',"changed":true}')) : bytes;
  for (let times = change === "twice" ? 2 : 1; times > 0; times -= 1) {
    await post(sender, sample.provider, headers, body);
  }
}

/** Posts one sample of a provider, signed with its secret. */
export async function sendOne(sender: Sender, provider: Provider, sample: Sample): Promise<void> {
  const secret = sender.secretOf(provider.id);
  if (secret === null) return;
  const { headers, bytes } = prepared(sender, { provider, secret, sample });
  await post(sender, provider, headers, bytes);
}

function prepared(
  { url, publicUrl, now }: Sender,
  { provider, secret, sample }: Omit<SecretSample, "weight">,
) {
  const fresh = { id: crypto.randomUUID(), now: new Date(now()) };
  const path = `webhooks/${provider.id}`;
  const signedUrl = publicUrl === null ? url + path : `${publicUrl}/${path}`;
  return signedSample(provider, sample, { secret }, fresh, { url: signedUrl });
}

async function post(
  { url }: Sender,
  { id }: Provider,
  headers: Readonly<Record<string, string>>,
  body: Buffer<ArrayBuffer>,
): Promise<void> {
  try {
    await fetch(`${url}webhooks/${id}`, { method: "POST", headers, body });
  } catch {
    // The service is stopping.
  }
}

/** The time of this machine. */
export const present = (): number => systemClock.now();
