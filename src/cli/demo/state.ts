import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { writePrivately } from "../../base/private-file.ts";
import { plainProgramName } from "../../base/program-name.ts";
import { settings } from "../../config/settings.ts";
import { messageOf } from "../kit/errors.ts";
import { UsageError } from "../kit/output.ts";

/** What other commands need to work with the running demo. */
interface DemoState {
  readonly pid: number;
  /** Environment variables. */
  readonly variables: NodeJS.ProcessEnv;
}

/** One demo of a user is found at a time: the one that started last. */
function placeOf(env: NodeJS.ProcessEnv): string {
  return join(env["XDG_RUNTIME_DIR"] || tmpdir(), `skyhook.demo-${process.getuid?.() ?? 0}.json`);
}

/** Writes the settings for other commands of the same user. They are removed when this process exits. */
export function publishDemo(settingsOfDemo: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv): void {
  const place = placeOf(env);
  const state: DemoState = { pid: process.pid, variables: ours(settingsOfDemo) };
  try {
    writePrivately(place, `${JSON.stringify(state)}\n`);
  } catch (error) {
    // In a temporary folder, the name may be a file of another user.
    console.error(`skyhook: --demo does not find this demo: ${messageOf(error)}`);
    return;
  }
  process.on("exit", () => {
    if (readState(place)?.pid === process.pid) rmSync(place, { force: true });
  });
}

const settingKeys = new Set<string>(Object.values(settings).map(({ key }) => key));

/** Whether a variable configures Skyhook or its commands. */
const isOurs = (name: string): boolean =>
  settingKeys.has(name) ||
  /(?:_WEBHOOK_SECRET(?:_PREVIOUS)?|^(?:ADMIN|OPERATOR|SKYHOOK_MCP)_TOKEN)$/.test(name);

const ours = (env: NodeJS.ProcessEnv, are = true): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => isOurs(name) === are));

/**
 * The environment with the settings of the demo that runs, and no other: those of the caller may be of a real server.
 * Throws a `UsageError` if none runs.
 */
export function envOfDemo(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const state = readState(placeOf(env));
  if (state !== null) return { ...ours(env, false), ...ours(state.variables) };
  throw new UsageError(
    `No demo of this user runs. Start one in another terminal: ${plainProgramName} demo`,
  );
}

/** Null if none runs. */
function readState(place: string): DemoState | null {
  let file: number | null = null;
  try {
    // Everyone can write to a temporary folder: another user's file must not set our variables.
    file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW);
    if (fstatSync(file).uid !== process.getuid?.()) return null;
    // Guarantee: only `publishDemo` of this user writes it, atomically.
    const state = JSON.parse(readFileSync(file, "utf8")) as DemoState;
    // Throws if no process has this id.
    process.kill(state.pid, 0);
    return state;
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}
