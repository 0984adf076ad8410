import { pause, systemClock } from "../../base/clock.ts";
import { startCommand } from "../../base/program-name.ts";
import type { Config } from "../../config/config.ts";
import { databaseFile } from "../../db/open.ts";
import { serverOf } from "../../db/sqlite/server-lock.ts";

const patienceMs = 3_000;
const pollMs = 50;

/** Has the server on this machine load all secrets again, and returns what came of it. */
export async function reloadServer({ databaseUrl }: Config): Promise<string> {
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
    if ((serverOf(file)?.reloads ?? 0) > reloads)
      return `The running server (process ${pid}) has loaded its secrets again.`;
  }
  return `The running server (process ${pid}) has not loaded its secrets again: see its log.`;
}
