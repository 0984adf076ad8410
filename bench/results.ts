import { Database } from "bun:sqlite";
import { cpus, platform, release } from "node:os";

import { builtCommit } from "../scripts/build.ts";

import { goalsTable } from "./goals.ts";
import { pinning } from "./processes.ts";
import { cells } from "./report.ts";
import { millionTable } from "./sizing.ts";
import type { Report } from "./suite.ts";

/** Read before the first section is written, which makes the working tree differ from its commit. */
const commit = builtCommit();

/** The commit, U, the machine and the versions, as a Markdown list. */
function environment(U: number, notes: readonly string[]): string {
  const sqlite = new Database(":memory:")
    .query<{ version: string }, []>("select sqlite_version() as version")
    .get();
  const [cpu] = cpus();
  return [
    `commit ${commit}, U ${cells.decimals(U, 1)} µs`,
    `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu?.model}, ${platform()} ${release()}`,
    `Bun ${Bun.version} (SQLite ${sqlite?.version})`,
    pinning,
    ...notes,
  ]
    .map((item) => `- ${item}`)
    .join("\n");
}

const preface = `# Benchmark results

The latest results of \`bun run bench <suite>\`. Each run replaces its own section and its goals. Machines differ by a factor
of two, so goals are multiples of **U**, the processor time, over all threads, of a webhook on the least program that keeps the
same promise (\`bench/servers/promise.ts\`) in the same run. **H** is the same for the start of a bare server. Differences under 15 %
are not significant.
`;

const aboutMillion = `## A million webhooks

From their arrival to their deletion, with bodies of 1.5 KB, by the figures of [life](#life).`;

/** The sections, in the order of the goals. */
const order = ["ingest", "life", "delivery", "memory", "start", "rest", "graphql"];

/** RESULTS.md with the section and the goals of a suite replaced. */
export function resultsWith(before: string, suite: string, report: Report, U: number): string {
  const section = [environment(U, report.notes ?? []), "", ...report.text].join("\n").trimEnd();
  const run = [`[${suite}](#${suite})`, commit, cells.decimals(U, 1)];
  const goals = goalsTable(report.figures, run, before);
  const isOf = (name: string) => (text: string) => text.startsWith(`## ${name}\n`);
  const parts = [...before.split(/^(?=## )/m), `## ${suite}\n\n${section}\n`];
  const sections = order.flatMap(
    (name) => parts.findLast(isOf(name))?.trimEnd().concat("\n") ?? [],
  );
  const results = sections.join("\n");
  const million = results.includes("## life\n")
    ? [`${aboutMillion}\n\n${millionTable(results)}\n`]
    : [];
  return [preface, `## Goals\n\n${goals}\n`, ...million, results].join("\n");
}
