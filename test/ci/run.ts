// Runs the stages that are named, or all, and ends with what each took, what was skipped and why, and one line:
// "N passed, N failed". Exits with 1 if anything failed, was skipped without being expected, or is missing here.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { gaps } from "./machine.ts";
import { type Output, plain, readOutput } from "./output.ts";
import { kept, type KeptRun, type Result, skipLines, slowestLines, timeLines } from "./report.ts";
import { root } from "./sample.ts";
import { unexpectedSkips } from "./skips.ts";
import { type Command, type Stage, stages } from "./stages.ts";

/** Times and counts of the last run that someone kept. */
const lastRun = join(root, ".ci/last-run.json");

const usage = `Usage: bash .ci/run [--keep] [stage …]

Stages
${stages.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join("\n")}

--keep writes the times to .ci/last-run.json, which later runs are compared with.`;

/** Longest excerpts of failures that a stage repeats at the end. */
const maxExcerpts = 8;

async function run(names: readonly string[], isKept: boolean): Promise<boolean> {
  const unknown = names.find((name) => !stages.some((stage) => stage.name === name));
  if (unknown !== undefined) throw new Error(`There is no stage "${unknown}".\n${usage}`);
  const chosen = stages.filter(({ name }) => names.length === 0 || names.includes(name));
  const missing = await gaps();
  for (const gap of missing) console.log(`Missing: ${gap}`);
  const folder = mkdtempSync(join(tmpdir(), "skyhook-ci-"));
  const skips = join(folder, "skips.jsonl");
  writeFileSync(skips, "");
  const results: Result[] = [];
  for (const stage of chosen) results.push(await runStage(stage, skips));
  const skipped = results.flatMap((result) => result.skipped);
  const reasons = readFileSync(skips, "utf8").split("\n");
  rmSync(folder, { recursive: true });
  const unexpected = unexpectedSkips(reasons);
  section("Skipped", skipLines(reasons, skipped));
  section("Slowest files", slowestLines(results));
  section("Stages", timeLines(results, formerRun()));
  if (isKept) writeFileSync(lastRun, `${JSON.stringify(kept(results), null, 2)}\n`);
  const failures = [
    ...results.flatMap((result) => result.failures),
    ...unexpected.map((text) => `Skipped without being expected: ${text}`),
    ...missing.map((gap) => `Missing: ${gap}`),
  ];
  section("What failed", failures);
  console.log((await lastNight()).trim());
  const passed = sum(results.map((result) => result.passed));
  const failed = sum(results.map((result) => result.failed)) + unexpected.length + missing.length;
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0;
}

async function runStage({ name, commands }: Stage, skips: string): Promise<Result> {
  const startedMs = performance.now();
  const outcomes: Outcome[] = [];
  for (const command of commands()) outcomes.push(await runCommand(command, skips));
  return {
    stage: name,
    seconds: (performance.now() - startedMs) / 1_000,
    processorSeconds: sum(outcomes.map(({ processorSeconds }) => processorSeconds)),
    passed: sum(outcomes.map(({ passed }) => passed)),
    failed: sum(outcomes.map(({ failed }) => failed)),
    failures: outcomes.flatMap(({ failures }) => failures),
    skipped: outcomes.flatMap(({ output }) => output.skipped),
    fileMs: new Map(outcomes.flatMap(({ output }) => [...output.fileMs])),
  };
}

interface Outcome {
  readonly output: Output;
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
  readonly processorSeconds: number;
}

async function runCommand(command: Command, skips: string): Promise<Outcome> {
  const title = command.argv.join(" ").slice(0, 200);
  console.log(`== ${title}`);
  const child = Bun.spawn([...command.argv], {
    cwd: root,
    env: { ...process.env, TEST_SKIPS: skips },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = await Promise.all([shown(child.stdout), shown(child.stderr)]);
  const exitCode = await child.exited;
  const text = texts.join("\n");
  const output = readOutput(text);
  const { passed, failed } = countsOf(command, output, exitCode, text);
  const failures = failed === 0 ? [] : failureLines(title, command, output, text);
  const cpuTime = child.resourceUsage()?.cpuTime.total ?? 0;
  return { output, passed, failed, failures, processorSeconds: Number(cpuTime) / 1e6 };
}

/** A runner that died without a summary has failed, whatever it counted; so has one that ran nothing. */
function countsOf({ isTest }: Command, { counts }: Output, exitCode: number, text: string) {
  if (!isTest && exitCode !== 0) return { passed: 0, failed: 1 };
  if (!isTest) return { passed: /^skipped: /m.test(text) ? 0 : 1, failed: 0 };
  const { passed, failed } = counts ?? { passed: 0, failed: 0 };
  const isBroken = exitCode !== 0 || passed === 0;
  return { passed, failed: isBroken ? Math.max(1, failed) : failed };
}

function failureLines(
  title: string,
  { isTest }: Command,
  { failures, counts }: Output,
  text: string,
): readonly string[] {
  if (!isTest || failures.length === 0) {
    const why = isTest && counts?.passed === 0 ? "Ran nothing" : "Failed";
    const lines = plain(text).trimEnd().split("\n");
    return [`${why}: ${title}`, ...lines.filter((line) => !isFine.test(line)).slice(-40)];
  }
  return [
    `Failed: ${title}`,
    ...failures.map((failure) => `${failure.file}: ${failure.title}`),
    ...failures.slice(0, maxExcerpts).flatMap(({ excerpt }) => excerpt),
  ];
}

/** Lines of searches on what held. */
const isFine = /withstood$|^NOTICED/;

/** Prints a stream while it runs, without colours, and returns all of it. */
async function shown(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const part = decoder.decode(chunk, { stream: true });
    text += part;
    process.stdout.write(plain(part));
  }
  return text;
}

function formerRun(): KeptRun {
  try {
    const former: KeptRun = JSON.parse(readFileSync(lastRun, "utf8"));
    return former;
  } catch {
    return {};
  }
}

async function lastNight(): Promise<string> {
  return Bun.$`bun run nightly --last`.cwd(root).nothrow().text();
}

function section(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log([`== ${title}`, ...lines].join("\n"));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

try {
  const { values, positionals } = parseArgs({
    options: { keep: { type: "boolean" }, help: { type: "boolean" } },
    allowPositionals: true,
  });
  if (values.help === true) console.log(usage);
  else if (!(await run(positionals, values.keep === true))) process.exitCode = 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
