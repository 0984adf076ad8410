import { userInfo } from "node:os";

import { systemClock } from "../../base/clock.ts";
import { commandPrefix, type Context } from "../../base/context.ts";
import { builtCommit } from "../../base/program-name.ts";
import { version } from "../../base/version.ts";

/** `0.1.0 (commit 716b25f, Bun 1.4.5)`: what a bug report should quote. */
export function fullVersion(): string {
  return `${version} (commit ${builtCommit ?? sourceCommit()}, Bun ${Bun.version})`;
}

/** The commit of the source, with `-dirty` if files have changed since; `unknown` outside of git. */
export function sourceCommit(): string {
  const command = ["git", "describe", "--always", "--dirty", "--exclude=*"];
  try {
    const { success, stdout } = Bun.spawnSync(command, { cwd: import.meta.dir, stderr: "ignore" });
    return (success && stdout.toString().trim()) || "unknown";
  } catch {
    // git is not installed.
    return "unknown";
  }
}

/** The name of the operating system's user. */
export function operatorName(env: NodeJS.ProcessEnv): string {
  const { username, uid } = userInfo();
  return username === "unknown" ? (env["USER"] ?? `uid ${uid}`) : username;
}

/** The context of who runs a command on the machine of the server. */
export function commandContext(env: NodeJS.ProcessEnv): Context {
  return {
    actor: { id: `${commandPrefix}${operatorName(env)}`, roles: ["admin"] },
    expiresAt: new Date(systemClock.now() + 3_600_000),
    requestId: "",
  };
}
