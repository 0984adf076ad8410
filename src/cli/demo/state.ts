import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { writePrivately } from "../../base/private-file.ts";
import { plainProgramName } from "../../base/program-name.ts";
import { settings } from "../../config/settings.ts";
import { messageOf } from "../kit/errors.ts";
import { UsageError } from "../kit/output.ts";

/** What other commands need to work with a running demo. */
interface DemoState {
  readonly pid: number;
  /** Where it was started. */
  readonly folder: string;
  /** Environment variables. */
  readonly variables: NodeJS.ProcessEnv;
}

const folderOf = (env: NodeJS.ProcessEnv): string => env["XDG_RUNTIME_DIR"] || tmpdir();
/** The beginning of the names of a user's files; the id of the demo's process follows. */
const prefix = `skyhook.demo-${process.getuid?.() ?? 0}-`;

/** Writes the settings for other commands of the same user. They are removed when this process exits. */
export function publishDemo(settingsOfDemo: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv): void {
  const place = join(folderOf(env), `${prefix}${process.pid}.json`);
  const state: DemoState = {
    pid: process.pid,
    folder: process.cwd(),
    variables: ours(settingsOfDemo),
  };
  try {
    // Those of demos that were killed hold keys.
    for (const [file, { isRunning }] of demosIn(env)) if (!isRunning) rmSync(file, { force: true });
    writePrivately(place, `${JSON.stringify(state)}\n`);
  } catch (error) {
    // In a temporary folder, the name may be a file of another user.
    console.error(`skyhook: --demo does not find this demo: ${messageOf(error)}`);
    return;
  }
  process.on("exit", () => rmSync(place, { force: true }));
}

const settingKeys = new Set<string>(Object.values(settings).map(({ key }) => key));

/** Whether a variable configures Skyhook or its commands. */
const isOurs = (name: string): boolean =>
  settingKeys.has(name) ||
  /(?:_WEBHOOK_SECRET(?:_PREVIOUS)?|^(?:ADMIN|OPERATOR|SKYHOOK_MCP)_TOKEN)$/.test(name);

const ours = (env: NodeJS.ProcessEnv, are = true): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => isOurs(name) === are));

/**
 * The environment with the settings of a running demo, and no other: those of the caller may be of a real server. The
 * demo is that of PORT if it is set, else that of the current folder, else the only one. Throws a `UsageError` that says
 * how to choose if there is no such demo.
 */
export function envOfDemo(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const running = demosIn(env).flatMap(([, { isRunning, state }]) => (isRunning ? [state] : []));
  if (running.length === 0) {
    throw new UsageError(
      `No demo of this user runs. Start one in another terminal: ${plainProgramName} demo`,
    );
  }
  const port = env["PORT"]?.trim() || null;
  const here = running.filter(({ folder }) => folder === process.cwd());
  const meant =
    port !== null
      ? running.filter(({ variables }) => variables["PORT"] === port)
      : here.length > 0
        ? here
        : running;
  const [one, ...others] = meant;
  if (one !== undefined && others.length === 0) {
    return { ...ours(env, false), ...ours(one.variables) };
  }
  const found =
    port === null ? `${meant.length} demos run` : `PORT is ${port}, and no demo runs there`;
  const choices = (meant.length > 0 ? meant : running)
    .map(({ variables, folder }) => `PORT=${variables["PORT"]} (started in ${folder})`)
    .toSorted();
  throw new UsageError(
    `${found}. Set PORT before the command to that of the demo: ${choices.join(" or ")}`,
  );
}

/** The demos of this user, by their files. */
function demosIn(env: NodeJS.ProcessEnv) {
  const folder = folderOf(env);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => {
    if (!name.startsWith(prefix) || !name.endsWith(".json")) return [];
    const file = join(folder, name);
    const state = readState(file);
    return state === null ? [] : [[file, { state, isRunning: isRunning(state) }] as const];
  });
}

function isRunning({ pid }: DemoState): boolean {
  try {
    // Throws if no process has this id.
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Null if it is not a file of this user. */
function readState(place: string): DemoState | null {
  let file: number | null = null;
  try {
    // Everyone can write to a temporary folder: another user's file must not set our variables.
    file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW);
    if (fstatSync(file).uid !== process.getuid?.()) return null;
    // Guarantee: only `publishDemo` of this user writes it, atomically.
    return JSON.parse(readFileSync(file, "utf8")) as DemoState;
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}
