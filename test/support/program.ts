import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const main = join(import.meta.dir, "../../src/main.ts");

/** A compiled program to test instead of the source: `SKYHOOK_PROGRAM=dist/skyhook bun test …`. */
export const compiledProgram: string | null = process.env["SKYHOOK_PROGRAM"] || null;

/** A new folder of one's own. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "skyhook-"));
}

export interface Surroundings {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** A command that runs the one that follows it in its own process. */
  readonly through?: readonly string[];
  /** A module that the program's process loads first. */
  readonly preload?: string;
}

/** Starts the program as a process of its own, with nothing of our environment but what is given. */
export function spawnSkyhook(
  args: readonly string[],
  { cwd, env = {}, input, through = [], preload }: Surroundings,
) {
  return Bun.spawn([...through, ...programWith(preload), ...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOST: "127.0.0.1", PORT: "1", ...env },
    stdin: input === undefined ? "ignore" : Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
}

function programWith(preload: string | undefined): readonly string[] {
  if (compiledProgram === null) {
    const first = preload === undefined ? [] : ["--preload", preload];
    return [process.execPath, ...first, main];
  }
  if (preload !== undefined) throw new Error("A compiled program loads nothing before itself");
  return [resolve(compiledProgram)];
}

/** Runs a command to its end. */
export async function runSkyhook(args: readonly string[], surroundings: Surroundings) {
  const child = spawnSkyhook(args, surroundings);
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { out, err, code };
}

/** A running server. `env` is what other commands need to find it. */
export interface RunningServer extends Surroundings {
  readonly url: string;
  readonly pid: number;
  /** Its exit code, once it has ended. */
  readonly exited: Promise<number>;
  readonly env: Readonly<Record<string, string>> & { readonly PORT: string };
  /** All it has printed so far. */
  log(): string;
  /** Ends it kindly; its exit code. */
  stop(): Promise<number>;
  /** Ends it at once, in the midst of what it does. */
  kill(): Promise<number>;
}

/** Starts `skyhook serve` (or another command that serves), by default on a free port. */
export async function startServer(
  { cwd, env = {}, port = "0", ...how }: Surroundings & { readonly port?: string },
  command = "serve",
): Promise<RunningServer> {
  const child = spawnSkyhook([command], { ...how, cwd, env: { ...env, PORT: port } });
  let log = "";
  const started = Promise.withResolvers<string>();
  const collect = async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      log += text;
      const url = /serves on (http:\/\/[\d.]+:\d+)/.exec(log)?.[1];
      if (url !== undefined) started.resolve(url);
    }
    started.reject(new Error(`The server did not start: ${await child.stderr.text()}`));
  };
  void collect();
  const url = await started.promise;
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    cwd,
    env: { ...env, PORT: new URL(url).port },
    log: () => log,
    async stop() {
      child.kill("SIGTERM");
      return child.exited;
    },
    async kill() {
      child.kill("SIGKILL");
      return child.exited;
    },
  };
}

/** Removes a folder and all that is in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Our environment for a child whose output is read. In a terminal the runner has its workers colour what
 * they print, and children of theirs would too.
 */
export function plainEnvironment(): Record<string, string | undefined> {
  const { FORCE_COLOR: _, ...others } = process.env;
  return { ...others, NO_COLOR: "1" };
}
