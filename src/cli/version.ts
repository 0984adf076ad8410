import { version } from "../base/version.ts";

/** Put in by the build; not there when the program runs from its source. */
declare const SKYHOOK_COMMIT: string | undefined;

/** Whether this runs from one compiled file. */
export const isCompiled = typeof SKYHOOK_COMMIT === "string";

/** `0.1.0 (commit 716b25f, Bun 1.4.5)`: what a report of a fault should name. */
export function fullVersion(): string {
  const commit = typeof SKYHOOK_COMMIT === "string" ? SKYHOOK_COMMIT : sourceCommit();
  return `${version} (commit ${commit}, Bun ${Bun.version})`;
}

/** The commit that the source is of, `-dirty` behind it where files were changed since; else `unknown`. */
export function sourceCommit(): string {
  const command = ["git", "describe", "--always", "--dirty", "--exclude=*"];
  try {
    const { success, stdout } = Bun.spawnSync(command, { cwd: import.meta.dir, stderr: "ignore" });
    return (success && stdout.toString().trim()) || "unknown";
  } catch {
    // There is no git.
    return "unknown";
  }
}
