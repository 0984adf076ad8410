import { pause, systemClock } from "../../base/clock.ts";
import { startCommand } from "../../base/program-name.ts";
import type { Config } from "../../config/config.ts";
import { secretPlaces } from "../../config/secrets.ts";
import { databaseFile } from "../../db/open.ts";
import { serverOf } from "../../db/sqlite/server-lock.ts";

const patienceMs = 3_000;
const pollMs = 50;

/**
 * Has the server on this machine load all secrets again, and returns what came of it. Throws an error if it does not use
 * the stored secret of one of `providers`, because a variable of its environment overrides the file.
 */
export async function reloadServer(
  { databaseUrl, secretsDir }: Config,
  providers: readonly string[],
): Promise<string> {
  const file = databaseFile(databaseUrl);
  if (file === null)
    return "To load them, send each running server kill -HUP <pid>, or restart it.";
  const server = serverOf(file);
  if (server === null) return `No server runs here: start it with \`${startCommand}\`.`;
  const { pid, reloads } = server;
  if (reloads === undefined) {
    return `The running server (process ${pid}) is of an older version. To load them, send it kill -HUP ${pid}, or restart it.`;
  }
  try {
    // Not SIGHUP, which a server takes for the end of its terminal if that is gone.
    process.kill(pid, "SIGUSR2");
  } catch {
    return `The running server belongs to another user. To load them, run kill -HUP ${pid} as that user.`;
  }
  const deadlineMs = systemClock.now() + patienceMs;
  while (systemClock.now() < deadlineMs) {
    await pause(systemClock, pollMs);
    const now = serverOf(file);
    if ((now?.reloads ?? 0) <= reloads) continue;
    const unused = providers
      .map((id) => secretPlaces(id, secretsDir))
      .find(({ current }) => now?.overriding?.includes(current.variable));
    if (unused === undefined)
      return `The running server (process ${pid}) has loaded its secrets again.`;
    const { current, previous } = unused;
    throw new Error(
      `Stored, but not used: unset ${current.variable}. The environment of the running server (process ${pid}) overrides the file. Write the value of the variable to ${previous.file}, so that it stays accepted, remove the variable, also from an EnvironmentFile or env_file, and restart the server.`,
    );
  }
  return `The running server (process ${pid}) has not loaded its secrets again: see its log.`;
}
