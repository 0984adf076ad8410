import { leastMicros, measure, skyhook } from "./contestants.ts";
import { measuredGoals } from "./goals.ts";
import { deliveredMicros } from "./life.ts";
import { median } from "./measure.ts";
import { memorySamples } from "./memory.ts";
import { inTurns } from "./rounds.ts";
import type { Options } from "./suite.ts";

/** The medians of goals, by the first word of their names. */
export type Readings = Readonly<Record<string, number>>;

const usual: Options = {
  rounds: 3,
  seconds: 2,
  warmUp: 15_000,
  connections: 64,
  rows: 0,
  isTrial: false,
};

/** Measures I1, E1 and M1 in about two minutes. */
export async function shortReadings(options = usual): Promise<Readings> {
  const rounds = await inTurns(options.rounds, async () => ({
    U: await leastMicros(options),
    ingest: (await measure(skyhook, options)).cpuMicros,
    delivered: await deliveredMicros(options),
  }));
  const bytes = (await memorySamples(1, options)).at(-1)?.anonymous ?? Number.NaN;
  const goals = measuredGoals({
    U: rounds.map(({ U }) => U),
    ingest: rounds.map(({ ingest }) => ingest),
    delivered: rounds.map(({ delivered }) => delivered),
    memory50k: [bytes / 1e6],
  });
  return Object.fromEntries(goals.map(({ goal, values }) => [goal.slice(0, 2), median(values)]));
}
