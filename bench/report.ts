import { Database } from "bun:sqlite";
import { cpus, platform, release } from "node:os";
import { join } from "node:path";

import { median } from "./measure.ts";

/** Number formats. */
export const cells = {
  perSecond: (value: number): string => Math.round(value).toLocaleString("en"),
  decimals: (value: number, digits: number): string =>
    Number.isFinite(value) ? value.toFixed(digits) : "–",
  percent: (value: number): string =>
    Number.isFinite(value) ? `${Math.round(value * 100)} %` : "–",
};

/** A Markdown table with aligned columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0), title.length),
  );
  const line = (row: readonly string[]): string => {
    const padded = row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(" | ")} |`;
  };
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** A ratio with a target. Without `target`, it is reported for comparison only. */
export interface Goal {
  readonly goal: string;
  /** One for each round. */
  readonly ratios: readonly number[];
  readonly better: "higher" | "lower";
  readonly target?: number;
}

export function goalTable(goals: readonly Goal[]): string {
  return table(
    ["goal", "median", "range", "target", "result"],
    goals.map((goal) => [
      goal.goal,
      ratio(median(goal.ratios)),
      `${ratio(Math.min(...goal.ratios))} to ${ratio(Math.max(...goal.ratios))}`,
      bound(goal, goal.target),
      resultOf(goal),
    ]),
  );
}

const ratio = (value: number): string => cells.decimals(value, value < 1 ? 3 : 2);

function bound({ better }: Goal, value: number | undefined): string {
  if (value === undefined) return "";
  return `${better === "higher" ? "≥" : "≤"} ${value}`;
}

function resultOf(goal: Goal): string {
  const { target, better } = goal;
  if (target === undefined) return "";
  const figure = median(goal.ratios);
  return (better === "higher" ? figure >= target : figure <= target) ? "target met" : "missed";
}

/** The commit, the machine and the versions, as a Markdown list. */
export function environment(more: readonly string[]): string {
  const sqlite = new Database(":memory:")
    .query<{ version: string }, []>("select sqlite_version() as version")
    .get();
  const [cpu] = cpus();
  const described = Bun.spawnSync(["git", "describe", "--always", "--dirty"]).stdout.toString();
  const items = [
    `commit ${described.trim() || "unknown"}`,
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu?.model}, ${platform()} ${release()}`,
    `Bun ${Bun.version} (SQLite ${sqlite?.version})`,
    ...more,
  ];
  return items.map((item) => `- ${item}`).join("\n");
}

const file = join(import.meta.dir, "RESULTS.md");
const preface = `# Benchmark results

The latest results of \`bun run bench <suite>\`. Each run replaces its own section. Compare ratios, not
figures of different runs: machines are noisy, and differences under 15 % are not significant. Unless a goal says
otherwise, it compares processor time over all threads.
`;

/** The sections, in the order of the goals. */
const order = ["ingest", "life", "delivery", "rest", "graphql", "memory"];

/** The goals that have a name, in the order of the sections. */
function goalsOf(sections: readonly string[]): string {
  const rows = sections.flatMap((section) => {
    const [, suite = ""] = /^## (.*)/.exec(section) ?? [];
    return [...section.matchAll(/^\| ([A-Z]\d+ .*?) \|$/gm)].map(([, row = ""]) => {
      const [goal = "", measured = "", range = "", target = "", result = ""] = row.split(/ *\| */);
      return [goal, measured, range, target, result, `[${suite}](#${suite.replaceAll(" ", "-")})`];
    });
  });
  const head = ["goal", "median", "range", "target", "result", "section"];
  return `## goals\n\n${table(head, rows)}\n`;
}

/** Replaces the section of a suite in RESULTS.md. */
export async function writeSection(suite: string, content: string): Promise<void> {
  const results = Bun.file(file);
  const before = (await results.exists()) ? await results.text() : "";
  const headingOf = (name: string) => `## ${name}\n`;
  const kept = before
    .split(/^(?=## )/m)
    .slice(1)
    .filter((other) => ![suite, "goals"].some((name) => other.startsWith(headingOf(name))))
    .map((other) => `${other.trimEnd()}\n`);
  const rank = (section: string) => order.findIndex((name) => section.startsWith(headingOf(name)));
  const sections = [...kept, `${headingOf(suite)}\n${content.trimEnd()}\n`].toSorted(
    (one, other) => rank(one) - rank(other),
  );
  await Bun.write(file, [preface, goalsOf(sections), ...sections].join("\n"));
}
