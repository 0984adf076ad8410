/** A failed or skipped test, as "bun test" prints it. */
export interface NamedTest {
  /** Empty before the first file. */
  readonly file: string;
  readonly title: string;
}

/** What "bun test" printed. */
export interface Output {
  /** The counts of the summary; null: the runner ended without one. */
  readonly counts: { readonly passed: number; readonly failed: number } | null;
  readonly failures: readonly (NamedTest & { readonly excerpt: readonly string[] })[];
  readonly skipped: readonly NamedTest[];
  /** The time of all tests of a file, in ms. */
  readonly fileMs: ReadonlyMap<string, number>;
  /** The seed of a random order. */
  readonly seed: string | null;
}

/** The lines before a failure, which have its error. */
const excerptLines = 14;

/** Removes what a terminal shows as colours and carriage returns. */
export const plain = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/\x1b\[[0-9;]*[A-Za-z]|\r/g, "");

const fileLine = /^(\S+\.test\.tsx?):$/;
/** In a terminal the marks are ✓, ✗ and ». */
const testLine = /^(\(pass\)|\(fail\)|\(skip\)|✓|✗|») (.+?)(?: \[([\d.]+)ms\])?$/;
const unhandledLine = /^# Unhandled error/;
/** What follows repeats the failures. */
const summaryLine = /^\d+ tests? (?:failed|skipped):$/;

/** Reads the output of "bun test". */
export function readOutput(text: string): Output {
  const failures: (NamedTest & { excerpt: string[] })[] = [];
  const skipped: NamedTest[] = [];
  const fileMs = new Map<string, number>();
  const lines = plain(text).split("\n");
  let file = "";
  let isSummary = false;
  for (const [index, line] of lines.entries()) {
    if (summaryLine.test(line)) isSummary = true;
    if (isSummary) continue;
    file = fileLine.exec(line)?.[1] ?? file;
    if (unhandledLine.test(line)) {
      failures.push({ file, title: line, excerpt: lines.slice(index, index + excerptLines) });
    }
    const [, mark = "", title = "", ms = "0"] = testLine.exec(line) ?? [];
    if (title === "") continue;
    fileMs.set(file, (fileMs.get(file) ?? 0) + Number(ms));
    if (mark === "(fail)" || mark === "✗") {
      const excerpt = lines.slice(Math.max(0, index - excerptLines), index + 1);
      failures.push({ file, title, excerpt });
    }
    if (mark === "(skip)" || mark === "»") skipped.push({ file, title });
  }
  return { counts: countsIn(lines), failures, skipped, fileMs, seed: seedIn(lines) };
}

/** "bun test" prints its counts last; a test may print the output of another one before. */
function countsIn(lines: readonly string[]): Output["counts"] {
  const [passed, failed] = ["pass", "fail"].map((word) => {
    const found = lines.findLast((line) => new RegExp(`^ *\\d+ ${word}$`).test(line));
    return found === undefined ? null : Number.parseInt(found, 10);
  });
  return passed == null || failed == null ? null : { passed, failed };
}

const seedIn = (lines: readonly string[]): string | null =>
  lines.map((line) => /^\s*--seed=(\d+)$/.exec(line)?.[1]).findLast(Boolean) ?? null;
