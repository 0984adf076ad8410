import { pause, systemClock } from "../base/clock.ts";
import { isObject, itemsAt } from "../base/payload.ts";
import type { Config } from "../config/config.ts";
import { databaseFile } from "../db/open.ts";
import { serverPid } from "../db/sqlite/server-lock.ts";

import { programName } from "./program.ts";
import { calling } from "./server-api.ts";

const patienceMs = 3_000;
const pollMs = 50;

/**
 * Has the server on this machine read its secrets again, and returns what came of it. `providers`: those that have a
 * secret now.
 */
export async function reloadServer(
  config: Config,
  env: NodeJS.ProcessEnv,
  providers: readonly string[],
): Promise<string> {
  const file = databaseFile(config.databaseUrl);
  const pid = file === null ? null : serverPid(file);
  if (pid === null) {
    return file === null
      ? "To load them, send each running server kill -HUP <pid>, or restart it."
      : `No server runs here: start it with \`${programName} serve\`.`;
  }
  try {
    process.kill(pid, "SIGHUP");
  } catch {
    return `The running server belongs to another user. To load them, run kill -HUP ${pid} as that user.`;
  }
  const isLoaded = await hasSecrets(env, providers).catch(() => null);
  if (isLoaded === true) return `The running server (process ${pid}) has loaded them.`;
  const said = isLoaded === null ? "was told to load them" : "has not loaded them";
  return `The running server (process ${pid}) ${said}: see its log.`;
}

/** Waits until the server has a secret for each provider. Throws if it cannot be asked. */
async function hasSecrets(env: NodeJS.ProcessEnv, providers: readonly string[]): Promise<boolean> {
  const call = calling({}, env, { path: "/v1/providers", role: "operator" });
  const deadlineMs = systemClock.now() + patienceMs;
  for (;;) {
    const missing = await unloaded(call, providers);
    if (missing.length === 0) return true;
    if (systemClock.now() > deadlineMs) return false;
    await pause(systemClock, pollMs);
  }
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
