import { connect } from "node:net";
import { join } from "node:path";

import type { LoadPlan, LoadResult } from "./load.ts";

/** Servers run on the first core and the generator on the second, where the system can pin them. */
const taskset = navigator.hardwareConcurrency > 1 ? Bun.which("taskset") : null;
export const pinning =
  taskset === null ? "not pinned to cores" : "server on core 0, load on core 1";

const startTimeoutMs = 10_000;
const stopTimeoutMs = 10_000;

function onCore(core: 0 | 1, command: readonly string[]): string[] {
  return taskset === null ? [...command] : [taskset, "--cpu-list", String(core), ...command];
}

const endings = new Set<() => void>();
process.on("exit", () => {
  for (const end of endings) end();
});

/** Has `end` called when this process exits, also by Ctrl-C; the function returned takes that back. */
export function atExit(end: () => void): () => void {
  endings.add(end);
  return () => void endings.delete(end);
}

/** A server under test. */
export interface Server {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts a server that listens on `env.PORT` of 127.0.0.1, and waits until it does. `portArguments`: for
 * one that is told its port on the command line.
 */
export async function startServer(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  portArguments: (port: number) => readonly string[] = () => [],
): Promise<Server> {
  const port = freePort();
  const child = Bun.spawn(onCore(0, [...command, ...portArguments(port)]), {
    env: { PATH: process.env["PATH"], NODE_ENV: "production", ...env, PORT: String(port) },
    stdout: "inherit",
    stderr: "inherit",
  });
  const forget = atExit(() => child.kill("SIGKILL"));
  const server: Server = {
    port,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      const patience = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      await child.exited;
      clearTimeout(patience);
      forget();
    },
  };
  const deadline = performance.now() + startTimeoutMs;
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await server.stop();
      throw new Error(`A server does not start: ${command.join(" ")}`);
    }
    await Bun.sleep(20);
  }
  return server;
}

/** Starts a program on the load's core; its output is the caller's to read. */
export function startLoad(command: readonly string[]) {
  const child = Bun.spawn(onCore(1, command), { stdout: "pipe", stderr: "inherit" });
  const forget = atExit(() => child.kill("SIGKILL"));
  void child.exited.then(forget);
  return child;
}

/** Puts a server, of that name, under load from a process on the other core. */
export async function runLoad(server: string, plan: LoadPlan): Promise<LoadResult> {
  const command = onCore(1, ["bun", join(import.meta.dir, "load.ts"), JSON.stringify(plan)]);
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const output = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`The load on "${server}" failed; see above`);
  const result: LoadResult = JSON.parse(output);
  return result;
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
