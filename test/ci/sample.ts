import { join } from "node:path";

import timings from "../slow/timings.json";

export const root = join(import.meta.dir, "../..");

/** Slow files that take longer, in ms, are sampled. */
const longMs = 10_000;
/** One in so many files is in a sample. */
const share = 6;

const testFiles = [...new Bun.Glob("test/**/*.test.{ts,tsx}").scanSync(root)]
  .filter((file) => !file.includes("node_modules"))
  .toSorted();
const isSlow = (file: string): boolean => file.startsWith("test/slow/");
/** By what `bun run test:slow --update-timings` wrote last, in ms. */
const recordedMs: ReadonlyMap<string, number> = new Map(Object.entries(timings.files));
const isLong = (file: string): boolean => (recordedMs.get(file) ?? 0) > longMs;

export const defaultFiles = testFiles.filter((file) => !isSlow(file));
export const shortSlowFiles = testFiles.filter((file) => isSlow(file) && !isLong(file));
export const longFiles = testFiles.filter((file) => isSlow(file) && isLong(file));

/**
 * The files whose turn it is at a commit, and those that changed. A hash chooses them, so that each commit has others,
 * and a run can be repeated.
 */
export function sampleOf(
  files: readonly string[],
  stage: string,
  commit: string,
  changed: ReadonlySet<string>,
): readonly string[] {
  const turn = (file: string) => Bun.hash.wyhash(`${commit} ${stage} ${file}`) % BigInt(share);
  return files.filter((file) => changed.has(file) || turn(file) === 0n);
}

/** A seed that is different for each commit, from 0 to 2^31. */
export const seedOf = (commit: string): number => Number(Bun.hash.wyhash(commit) % 2n ** 31n);

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
