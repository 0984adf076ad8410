/** Reasons for which a complete machine skips tests too, and where else their subject is tested. */
export const expectedSkips: Readonly<Record<string, string>> = {
  "the compiled program is tested without PostgreSQL":
    "it runs without a network; the same tests run from source on PostgreSQL",
  "the registry returned no advisories": "a mirror has none; a run with the public registry checks",
  "go is not installed": "the receivers in Node and Python are tested by the same cases",
  "ruby is not installed":
    "the formula has no logic; its addresses and sums are compared without it",
  "docker has no compose": "the settings that the file names are checked without it",
  "the tests do not run as root":
    "the compiled program runs as an unprivileged user; the same tests run from source as root",
  "the machine was too slow for all lives":
    "the lives that fit into two minutes are checked; only what all together contain is not",
};

/** The reasons in the lines that `skips` has written, each with its files. */
export function skipsByReason(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  // Guarantee: `skips` writes these lines.
  const skips = lines
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<"file" | "reason", string>);
  const grouped = Map.groupBy(skips, ({ reason }) => reason);
  return new Map(
    Array.from(grouped, ([reason, all]) => [reason, [...new Set(all.map(({ file }) => file))]]),
  );
}

/** A text for each reason for which a complete machine skips no test. */
export function unexpectedSkips(lines: readonly string[]): readonly string[] {
  return Array.from(skipsByReason(lines))
    .filter(([reason]) => !Object.hasOwn(expectedSkips, reason))
    .map(([reason, files]) => `${reason} (skips tests of ${files.join(", ")})`);
}
