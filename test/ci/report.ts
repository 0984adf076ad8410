import type { NamedTest } from "./output.ts";
import { skipsByReason } from "./skips.ts";

/** What a stage did. */
export interface Result {
  readonly stage: string;
  readonly seconds: number;
  /** Of all its processes. */
  readonly processorSeconds: number;
  readonly passed: number;
  readonly failed: number;
  /** What failed, with some lines on each. */
  readonly failures: readonly string[];
  readonly skipped: readonly NamedTest[];
  readonly fileMs: ReadonlyMap<string, number>;
}

/** A run as it is kept, to compare the next one with. */
export type KeptRun = Readonly<
  Record<string, Pick<Result, "seconds" | "processorSeconds" | "passed">>
>;

export const kept = (results: readonly Result[]): KeptRun =>
  Object.fromEntries(
    results.map(({ stage, seconds, processorSeconds, passed }) => [
      stage,
      { seconds: Math.round(seconds), processorSeconds: Math.round(processorSeconds), passed },
    ]),
  );

/** Each stage with its time and counts, beside those of the run that was kept. */
export function timeLines(results: readonly Result[], before: KeptRun): readonly string[] {
  const rows = results.map((result) => {
    const { stage, seconds, processorSeconds, passed, failed, skipped } = result;
    const counts = [passed, failed, skipped.length].map(String);
    const former = before[stage];
    const times =
      former === undefined
        ? "-"
        : `${former.seconds} s, ${former.processorSeconds} s, ${former.passed}`;
    return [stage, `${seconds.toFixed(0)} s`, `${processorSeconds.toFixed(0)} s`, ...counts, times];
  });
  return table([
    ["stage", "time", "processor", "passed", "failed", "skipped", "last kept run"],
    ...rows,
  ]);
}

/** Each skipped test, below the reasons that its file gives. */
export function skipLines(
  written: readonly string[],
  skipped: readonly NamedTest[],
): readonly string[] {
  const byFile = Map.groupBy(skipped, ({ file }) => file);
  const byReason = skipsByReason(written);
  const lines = Array.from(byReason, ([reason, files]) => {
    const titles = files.flatMap((file) => byFile.get(file) ?? [{ file, title: "" }]);
    return [
      `${reason}:`,
      ...unique(titles.map(({ file, title }) => `  ${file} ${title}`.trimEnd())),
    ];
  });
  const explained = new Set([...byReason.values()].flat());
  const others = skipped.filter(({ file }) => !explained.has(file));
  return [...lines.flat(), ...others.map(({ file, title }) => `no reason: ${file} ${title}`)];
}

const unique = (lines: readonly string[]): readonly string[] => [...new Set(lines)];

const slowestCount = 10;

/** The files whose tests took longest, over all stages. */
export function slowestLines(results: readonly Result[]): readonly string[] {
  const rows = results
    .flatMap(({ stage, fileMs }) => Array.from(fileMs, ([file, ms]) => ({ stage, file, ms })))
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, slowestCount);
  return table(rows.map(({ stage, file, ms }) => [`${(ms / 1_000).toFixed(1)} s`, stage, file]));
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
