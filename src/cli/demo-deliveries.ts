import { systemClock } from "../base/clock.ts";
import type { Provider, SampleDelivery } from "../gateway/providers/provider.ts";
import { providerById } from "../gateway/providers/catalogue.ts";
import { signedSample } from "../gateway/providers/signed-sample.ts";

/** The first deliveries are sent at once; further ones after a random pause. */
const firstDeliveries = 3;
/** Of this many deliveries, one is changed after signing and rejected, and one is sent twice. */
const oddEvery = 8;
const pauseMs = { least: 2_000, most: 9_000 };

interface Sample {
  readonly provider: Provider;
  readonly secret: string;
  readonly sample: SampleDelivery;
}

/** Posts signed samples of all providers and events in random order until the process ends. */
export function deliverSamples(
  url: string,
  providerIds: readonly string[],
  secretOf: (id: string) => string | null,
): void {
  const samples = providerIds.flatMap((id): Sample[] => {
    const provider = providerById(id);
    const secret = secretOf(id);
    if (provider === undefined || secret === null) return [];
    return Object.values(provider.samples).map((sample) => ({ provider, secret, sample }));
  });
  let waiting: Sample[] = [];
  let delivered = 0;
  const next = async (): Promise<void> => {
    if (waiting.length === 0) waiting = shuffled(samples);
    const sample = waiting.pop();
    if (sample === undefined) return;
    const place = delivered % oddEvery;
    await deliver(url, sample, place === 1 ? "changed" : place === 2 ? "twice" : "as it is");
    delivered += 1;
    const pause = pauseMs.least + Math.random() * (pauseMs.most - pauseMs.least);
    setTimeout(() => void next(), delivered < firstDeliveries ? 0 : pause).unref();
  };
  void next();
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const places = items.map((item) => ({ item, place: Math.random() }));
  return places.toSorted((one, other) => one.place - other.place).map(({ item }) => item);
}

async function deliver(
  url: string,
  { provider, secret, sample }: Sample,
  how: "as it is" | "changed" | "twice",
): Promise<void> {
  const fresh = { id: crypto.randomUUID(), now: new Date(systemClock.now()) };
  const { headers, bytes } = signedSample(provider, sample, secret, fresh);
  const body =
    how === "changed" ? Buffer.from(bytes.toString().replace(/}$/, ',"changed":true}')) : bytes;
  try {
    for (let times = how === "twice" ? 2 : 1; times > 0; times -= 1) {
      await fetch(`${url}webhooks/${provider.id}`, { method: "POST", headers, body });
    }
  } catch {
    // The service is stopping.
  }
}
