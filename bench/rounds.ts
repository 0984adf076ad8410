import type { LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { cells } from "./report.ts";

/** The results of the contestants in one round. */
export type Round<Name extends string> = Readonly<Record<Name, LoadResult>>;

/** Runs the rounds one after the other and prints their numbers, after `label` if it is not empty. */
export async function inTurns<Result>(
  count: number,
  runRound: () => Promise<Result>,
  label = "",
): Promise<Result[]> {
  const results: Result[] = [];
  for (let round = 1; round <= count; round += 1) {
    console.log(`${label === "" ? "Round" : `${label}, round`} ${round} of ${count}`);
    results.push(await runRound());
  }
  return results;
}

export const medianOf = (results: readonly LoadResult[], figure: keyof LoadResult): number =>
  median(results.map((result) => result[figure]));

/** The columns of `loadRow` after the first. */
export const loadColumns = [
  "requests/s",
  "CPU µs/request",
  "main thread µs",
  "p50 ms",
  "p99 ms",
  "core busy",
  "load core busy",
];

export function loadRow(name: string, results: readonly LoadResult[]): string[] {
  const of = (figure: keyof LoadResult): number => medianOf(results, figure);
  return [
    name,
    cells.perSecond(of("requestsPerSecond")),
    cells.decimals(of("cpuMicros"), 1),
    cells.decimals(of("mainCpuMicros"), 1),
    cells.decimals(of("p50Ms"), 2),
    cells.decimals(of("p99Ms"), 2),
    cells.percent(of("serverBusy")),
    cells.percent(of("generatorBusy")),
  ];
}
