import { pause, systemClock } from "../base/clock.ts";
import { isObject, itemsAt } from "../base/payload.ts";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../db/open.ts";
import { serverOf } from "../db/sqlite/server-lock.ts";

import { programName } from "./program.ts";
import { calling } from "./server-api.ts";

const patienceMs = 3_000;
const pollMs = 50;

/** Has the server on this machine load all secrets again, and returns what came of it. */
export async function reloadServer({ databaseUrl }: Config): Promise<string> {
  const file = databaseFile(databaseUrl);
  const server = file === null ? null : serverOf(file);
  if (file === null || server === null) {
    return file === null
      ? "To load them, send each running server kill -HUP <pid>, or restart it."
      : `No server runs here: start it with \`${programName} serve\`.`;
  }
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

/** Those of the providers that have no secret at the server. Throws if it cannot be asked. */
export async function unloaded(
  call: ReturnType<typeof calling>,
  providers: readonly string[],
): Promise<readonly string[]> {
  const listed = itemsAt(await call("GET", ""), "data").filter(isObject);
  const lacking = listed
    .filter(({ hasSecret }) => hasSecret !== true)
    .map(({ provider }) => provider);
  return providers.filter((id) => lacking.includes(id));
}
