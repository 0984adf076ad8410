import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { until } from "./app.ts";
import { freePort } from "./free-port.ts";
import { type Ended, runHere } from "./run-here.ts";

const ownMain = join(import.meta.dir, "../../src/main.ts");

/** A compiled program to test instead of the source: `SKYHOOK_PROGRAM=dist/skyhook bun test …`. */
export const compiledProgram: string | null = process.env["SKYHOOK_PROGRAM"] || null;

/** How the program's hints name it. */
export const programName = compiledProgram === null ? "bun skyhook" : "skyhook";

/** Creates a temporary folder. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "skyhook-"));
}

export interface Surroundings {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** A command prefix that starts the program, such as `prlimit`. */
  readonly through?: readonly string[];
  /** A module to load before the program. */
  readonly preload?: string;
  /** The `main.ts` of a changed copy of the program. */
  readonly main?: string;
}

/** Starts the program in a new process, only with the given environment. */
export function spawnSkyhook(
  args: readonly string[],
  { cwd, env = {}, input, through = [], preload, main }: Surroundings,
) {
  return Bun.spawn([...through, ...programWith(preload, main), ...args], {
    cwd,
    env: minimal(env),
    stdin: input === undefined ? "ignore" : Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** The environment of a command: nothing of ours but the path. */
const minimal = (env: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env["PATH"] ?? "",
  HOST: "127.0.0.1",
  PORT: "1",
  ...env,
});

/** The words that start the program, before those of a command. */
export function programWith(preload?: string, main?: string): readonly string[] {
  if (compiledProgram === null || main !== undefined) {
    const first = preload === undefined ? [] : ["--preload", preload];
    return [process.execPath, ...first, main ?? ownMain];
  }
  if (preload !== undefined) throw new Error("A compiled program cannot preload a module");
  return [resolve(compiledProgram)];
}

/**
 * Runs a command until it exits: in this process if that makes no difference to the command, and in one of its
 * own if TEST_PROCESSES is set (own-processes.ts).
 */
export async function runSkyhook(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<Ended> {
  if (canRunHere(args, surroundings)) {
    return runHere(args, surroundings.cwd, minimal(surroundings.env), surroundings.input);
  }
  return ended(spawnSkyhook(args, surroundings));
}

/** Waits until a process ends, and returns what it printed. */
export async function ended({
  stdout,
  stderr,
  exited,
}: Bun.Subprocess<Bun.Spawn.Writable, "pipe", "pipe">): Promise<Ended> {
  const [out, err, code] = await Promise.all([stdout.text(), stderr.text(), exited]);
  return { out, err, code };
}

/** Those that serve end with their process. */
const serving = new Set(["serve", "demo"]);

function canRunHere([command = ""]: readonly string[], how: Surroundings): boolean {
  const isOwn = (how.through ?? how.preload ?? how.main) !== undefined;
  const isWanted = compiledProgram === null && process.env["TEST_PROCESSES"] === undefined;
  return isWanted && !isOwn && !serving.has(command);
}

/** A running server. `env` is the environment in which other commands find it. */
export interface RunningServer extends Surroundings {
  readonly url: string;
  readonly pid: number;
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  readonly env: Readonly<Record<string, string>> & { readonly PORT: string };
  /** Everything that it has printed so far. */
  log(): string;
  /** Waits until it has printed a text: what a request causes may be printed after its response. */
  printed(text: string): Promise<void>;
  /** Sends SIGTERM. Resolves with the exit code when all that it printed is in the log. */
  stop(): Promise<number>;
  /** Sends SIGKILL. */
  kill(): Promise<number>;
}

export interface ServerOptions extends Surroundings {
  readonly port?: string;
  /** A file that gets the output instead of `log`. */
  readonly logTo?: string;
}

/** Starts `skyhook serve` (or another command that serves), by default on a free port. */
export async function startServer(
  { cwd, env = {}, port = "0", logTo, through = [], ...how }: ServerOptions,
  command = "serve",
): Promise<RunningServer> {
  // Where the output cannot be read, it does not say which port was free.
  const known = logTo === undefined ? null : `http://127.0.0.1:${freePort()}`;
  const child = spawnSkyhook([command], {
    ...how,
    cwd,
    through: logTo === undefined ? through : [...through, "sh", "-c", 'exec "$@" >>"$0"', logTo],
    env: {
      // The demo is quiet by default, and its state is found by all of the user's commands.
      ...(command === "demo" && { LOG_LEVEL: "info", XDG_RUNTIME_DIR: cwd }),
      ...env,
      PORT: known === null ? port : new URL(known).port,
    },
  });
  let log = "";
  const started = Promise.withResolvers<string>();
  const collect = async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      log += text;
      const url = /serves on (http:\/\/[\d.]+:\d+)/.exec(log)?.[1];
      if (url !== undefined) started.resolve(url);
    }
    if (logTo !== undefined) await child.exited;
    started.reject(new Error(`The server did not start: ${await child.stderr.text()}`));
  };
  // A server that is killed may reset the stream, which is no error of the test.
  const collected = collect().catch(started.reject);
  const stopped = async () => {
    const [code] = await Promise.all([child.exited, collected]);
    return code;
  };
  const answers = async (url: string) => {
    await until(async () => (await fetch(`${url}/livez`).catch(() => null))?.ok === true);
    return url;
  };
  const url = await Promise.race([started.promise, ...(known === null ? [] : [answers(known)])]);
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    cwd,
    env: { ...env, PORT: new URL(url).port },
    log: () => log,
    printed: (text) => until(() => log.includes(text)),
    async stop() {
      child.kill("SIGTERM");
      return stopped();
    },
    async kill() {
      child.kill("SIGKILL");
      return stopped();
    },
  };
}

/** Removes a folder and its content. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Our environment, for a child whose output is read. In a terminal the test runner makes its workers print
 * in colour, and their children would inherit that.
 */
export function plainEnvironment(): Record<string, string | undefined> {
  const { FORCE_COLOR: _, ...others } = process.env;
  return { ...others, NO_COLOR: "1" };
}
