import type { LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { cells } from "./report.ts";

/** What each contestant came to in one round. */
export type Round<Name extends string> = Readonly<Record<Name, LoadResult>>;

/** Runs the rounds one after the other, and says which one it is. `what`: where several things take rounds. */
export async function inTurns<Result>(
  count: number,
  runRound: () => Promise<Result>,
  what = "",
): Promise<Result[]> {
  const results: Result[] = [];
  for (let round = 1; round <= count; round += 1) {
    console.log(`${what === "" ? "Round" : `${what}, round`} ${round} of ${count}`);
    results.push(await runRound());
  }
  return results;
}

/** One contestant's figure over another's, of each round. */
export const ratiosOf =
  <Name extends string>(rounds: readonly Round<Name>[]) =>
  (figure: keyof LoadResult, one: Name, other: Name): number[] =>
    rounds.map((round) => round[one][figure] / round[other][figure]);

export const medianOf = (results: readonly LoadResult[], figure: keyof LoadResult): number =>
  median(results.map((result) => result[figure]));

/** The columns of `loadRow` after the first. */
export const loadColumns = [
  "requests/s",
  "CPU µs/request",
  "p50 ms",
  "p99 ms",
  "core busy",
  "load's core busy",
];

export function loadRow(name: string, results: readonly LoadResult[]): string[] {
  const of = (figure: keyof LoadResult): number => medianOf(results, figure);
  return [
    name,
    cells.perSecond(of("requestsPerSecond")),
    cells.decimals(of("cpuMicros"), 1),
    cells.decimals(of("p50Ms"), 2),
    cells.decimals(of("p99Ms"), 2),
    cells.percent(of("serverBusy")),
    cells.percent(of("generatorBusy")),
  ];
}

/** The share of its core below which a server was disturbed; undisturbed it has 90 % and more. */
const leastBusy = 0.8;
/** The best round over the worst, beyond which a median says nothing. */
const mostSpread = 2;

/**
 * Why a goal cannot be judged by these ratios; null when it can. `unwaiting`: servers that wait for nothing
 * but their core. Where others took that away, the quotient tells of them.
 */
export function flawOf(
  ratios: readonly number[],
  ...unwaiting: readonly (readonly LoadResult[])[]
): string | null {
  const busy = Math.min(...unwaiting.map((results) => medianOf(results, "serverBusy")));
  if (busy < leastBusy) return `a server had ${cells.percent(busy)} of its core`;
  return Math.max(...ratios) > mostSpread * Math.min(...ratios) ? "rounds differ too much" : null;
}
