import { join } from "node:path";

import timings from "../slow/timings.json";

export const root = join(import.meta.dir, "../..");

/** Slow files that take longer, in ms, are sampled. */
const longMs = 10_000;
/** One in so many files is in a sample: after as many commits, most files had their turn. */
const share = 6;

/** The files whose turn it is at a commit: by a hash, so that each commit has others, and a run can be repeated. */
export function sampleOf(
  files: readonly string[],
  stage: string,
  commit: string,
): readonly string[] {
  const turn = (file: string) => Bun.hash.wyhash(`${commit} ${stage} ${file}`) % BigInt(share);
  return files.filter((file) => turn(file) === 0n);
}

/** A seed that is different for each commit, from 0 to 2^31. */
export const seedOf = (commit: string): number => Number(Bun.hash.wyhash(commit) % 2n ** 31n);

/** The slow tests that a run takes: the short ones, those that changed, and a sample of the others. */
export function slowFiles(commit: string, changed: ReadonlySet<string>): readonly string[] {
  const isLong = (file: string) => (recordedMs.get(file) ?? 0) > longMs;
  const files = testFiles("test/slow");
  const sample = sampleOf(files.filter(isLong), "slow", commit);
  return files.filter((file) => !isLong(file) || changed.has(file) || sample.includes(file));
}

/** A sample of the default tests, and those that changed. */
export function defaultFiles(
  stage: string,
  commit: string,
  changed: ReadonlySet<string>,
): readonly string[] {
  const files = testFiles("test").filter((file) => !file.startsWith("test/slow/"));
  const sample = sampleOf(files, stage, commit);
  return files.filter((file) => changed.has(file) || sample.includes(file));
}

function testFiles(folder: string): readonly string[] {
  const found = new Bun.Glob(`${folder}/**/*.test.{ts,tsx}`).scanSync(root);
  return [...found].filter((file) => !file.includes("node_modules")).toSorted();
}

/** How long each slow file took when `bun run test:slow --update-timings` last ran, in ms. */
const recordedMs: ReadonlyMap<string, number> = new Map(Object.entries(timings.files));

/** The commit that is checked. */
export const headCommit = (): string => git("rev-parse", "HEAD").trim();

/** The paths, from the top of the tree, of what differs from `commit` now. */
export const changedSince = (commit: string): ReadonlySet<string> =>
  new Set(git("diff", "--name-only", "--end-of-options", commit).split("\n").filter(Boolean));

function git(...args: readonly string[]): string {
  const { stdout, stderr, success } = Bun.spawnSync(["git", ...args], { cwd: root });
  if (!success) throw new Error(`git ${args[0]}: ${stderr.toString().trim()}`);
  return stdout.toString();
}
