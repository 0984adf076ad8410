import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ended, plainEnvironment, removeFolder, temporaryFolder } from "../../support/program.ts";

/** The result of all tests with a title; null: no test has it. */
export type Result =
  { readonly is: "passed" | "skipped" } | { readonly is: "failed"; readonly reason: string } | null;

/** The longest run of one file. */
const timeoutMs = 120_000;

/**
 * Runs the tests of one file whose titles, or those of their groups, contain one of `titles`, in the tree in
 * `folder`. Throws with the output when none ran: no test has such a title, or the file cannot be loaded.
 */
export async function results(
  folder: string,
  file: string,
  titles: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ReadonlyMap<string, Result>> {
  const reports = temporaryFolder();
  try {
    const report = join(reports, "report.xml");
    const child = Bun.spawn([...commandFor(file), ...optionsFor(titles, report)], {
      cwd: folder,
      env: { ...plainEnvironment(), ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const { out, err, code } = await ended(child);
    const cases = existsSync(report) ? casesIn(readFileSync(report, "utf8")) : [];
    if (code !== 0 && cases.every(({ isSkipped }) => isSkipped)) {
      throw new Error(`${file} did not run:\n${out}${err}`);
    }
    return new Map(titles.map((title) => [title, resultOf(cases, title)]));
  } finally {
    removeFolder(reports);
  }
}

function commandFor(file: string): readonly string[] {
  const slow = file.startsWith("test/slow/") ? ["--config=test/slow/bunfig.toml"] : [];
  return [process.execPath, "test", ...slow, `./${file}`];
}

function optionsFor(titles: readonly string[], report: string): readonly string[] {
  const pattern = titles.map((title) => RegExp.escape(title)).join("|");
  return ["-t", pattern, "--reporter=junit", `--reporter-outfile=${report}`];
}

interface Case {
  readonly title: string;
  /** The titles of its groups. */
  readonly groups: string;
  readonly isSkipped: boolean;
  /** Null when it did not fail. */
  readonly failure: string | null;
}

const testCase =
  /<testcase name="(?<title>[^"]*)" classname="(?<groups>[^"]*)"[^>]*?(?:\/>|>(?<content>.*?)<\/testcase>)/gs;
const failureElement = /<failure(?: type="(?<type>[^"]*)")?(?: message="(?<message>[^"]*)")?/;

/** The tests in a JUnit report. Those that the pattern left out are reported as skipped. */
function casesIn(report: string): readonly Case[] {
  return [...report.matchAll(testCase)].map(({ groups: parts = {} }) => {
    const { title = "", groups = "", content = "" } = parts;
    const failed = failureElement.exec(content)?.groups;
    return {
      title: unescaped(title),
      groups: unescaped(groups),
      isSkipped: content.includes("<skipped"),
      failure:
        failed === undefined ? null : unescaped(failed["message"] || failed["type"] || "").trim(),
    };
  });
}

function resultOf(cases: readonly Case[], title: string): Result {
  const named = cases.filter((one) => one.title.includes(title) || one.groups.includes(title));
  const reason = named.find(({ failure }) => failure !== null)?.failure ?? null;
  if (reason !== null) return { is: "failed", reason };
  if (named.length === 0) return null;
  return { is: named.some(({ isSkipped }) => !isSkipped) ? "passed" : "skipped" };
}

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&#10;": "\n",
  "&amp;": "&",
};

function unescaped(text: string): string {
  return text.replaceAll(/&[#\w]+;/g, (entity) => entities[entity] ?? entity);
}
