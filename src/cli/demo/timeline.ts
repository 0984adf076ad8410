import type { PastClock } from "./past-clock.ts";

/** Something that happened in the past of the demo. */
export interface Moment {
  readonly agoMs: number;
  readonly happen: () => Promise<unknown>;
}

/** Moments this close to each other happen at the same time, which is faster. */
const togetherMs = 15 * 60_000;

/** Lets everything happen in its order, oldest first, with the clock set to its time. */
export async function liveThrough(moments: readonly Moment[], clock: PastClock): Promise<void> {
  const sorted = moments.toSorted((one, other) => other.agoMs - one.agoMs);
  for (let index = 0; index < sorted.length;) {
    const first = sorted[index]?.agoMs ?? 0;
    clock.setBack(first);
    const rest = sorted.slice(index);
    const later = rest.findIndex(({ agoMs }) => agoMs < first - spanBefore(first));
    const group = later < 0 ? rest : rest.slice(0, later);
    await Promise.all(group.map(({ happen }) => happen()));
    index += group.length;
  }
  clock.setBack(0);
}

/** Of the last two days, each moment has its own time. */
function spanBefore(agoMs: number): number {
  return agoMs > 50 * 3_600_000 ? togetherMs : 0;
}
