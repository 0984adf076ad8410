import { cpuMicrosOf } from "../../../../bench/measure.ts";
import type { Victim } from "../victim.ts";

import { flood } from "./attack.ts";

/** The cost of an operation may grow to this many times its cost at the beginning. */
const maxGrowthRatio = 1.5;
const parts = 3;
const usualPart = 1_000;
const atOnce = 16;
/** A part ends after this time, even with fewer operations. */
const partLimitMs = 12_000;
/** How long the bystander is measured before the operations, and again after them. */
const observedMs = 1_500;
/** The time limit of an attack that measures growth. */
export const growthLimitMs = parts * partLimitMs + 2 * observedMs + 5_000;

/**
 * Repeats an operation, by default 3,000 times, and compares the processor time that the server takes for it. A cost that
 * grows with each row does no harm in a short attack. Throws if the last third of the operations costs more than the first, or
 * if a request of the bystander costs more afterwards than before. The bystander's rate is only measured afterwards.
 */
export async function expectNoGrowth(
  { pid, bystander }: Victim,
  operation: (number: number) => Promise<unknown>,
  operationsPerPart = usualPart,
): Promise<void> {
  bystander.begin();
  await Bun.sleep(observedMs);
  const before = await bystander.end();
  const costs: number[] = [];
  for (let part = 0; part < parts; part += 1) {
    const deadline = performance.now() + partLimitMs;
    const startMicros = cpuMicrosOf(pid);
    let done = 0;
    await flood(operationsPerPart, atOnce, async (n) => {
      if (performance.now() > deadline) return;
      await operation(part * operationsPerPart + n);
      done += 1;
    });
    costs.push((cpuMicrosOf(pid) - startMicros) / done);
  }
  bystander.begin();
  await Bun.sleep(observedMs);
  const after = await bystander.end();
  const [first = Number.NaN, last = Number.NaN] = [costs[0], costs.at(-1)];
  const faults = [
    grown("an operation", first, last),
    grown("a request of the bystander", before.costMicros, after.costMicros),
  ].filter((fault) => fault !== null);
  if (faults.length > 0) throw new Error(faults.join("; "));
}

function grown(what: string, before: number, after: number): string | null {
  if (after <= before * maxGrowthRatio) return null;
  const [from, to] = [before, after].map(Math.round);
  return `the cost of ${what} grew from ${from} to ${to} µs of processor time`;
}
