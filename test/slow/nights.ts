import type { Readings } from "../../bench/gate.ts";

/** A row of nightly.md. */
interface Night {
  readonly date: string;
  readonly commit: string;
  readonly minutes: number;
  /** Without those that were not measured. */
  readonly readings: Readings;
  readonly found: string;
}

const goals = ["I1", "E1", "M1"] as const;

/** The rows of nightly.md, the last night at the end. */
export function nightsOf(records: string): readonly Night[] {
  return records
    .split("\n")
    .filter((line) => /^\| \d{4}-/.test(line))
    .map((line) => {
      const [date = "", commit = "", minutes = "", ...others] = line.split(/ *\| */).slice(1, -1);
      const measured = goals.map((goal, at) => [goal, Number(others[at])] as const);
      const readings = Object.fromEntries(measured.filter(([, value]) => Number.isFinite(value)));
      return { date, commit, minutes: Number(minutes), readings, found: others.at(-1) ?? "" };
    });
}

/** A night as a row of nightly.md. */
export function rowOf({ date, commit, minutes, readings, found }: Night): string {
  const values = goals.map((goal) => readings[goal]?.toFixed(2) ?? "–");
  return `| ${[date, commit, minutes, ...values, found].join(" | ")} |\n`;
}

const tolerance = 1.15;

/**
 * The readings that are missing or beyond 1.15 times the last one. Those that were beyond it themselves do not count,
 * or a slower program would pass in the second night.
 */
export function beyondLast(now: Readings, nights: readonly Night[]): readonly string[] {
  return goals.flatMap((goal) => {
    const last = nights.findLast(
      ({ readings, found }) => goal in readings && !found.includes(`${goal} beyond`),
    );
    const before = last?.readings[goal];
    const value = now[goal] ?? Number.NaN;
    if (value <= (before ?? Infinity) * tolerance) return [];
    return [`${goal} beyond ${tolerance} × ${before ?? "nothing"}`];
  });
}
