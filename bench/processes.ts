import { connect } from "node:net";
import { join } from "node:path";

import type { LoadPlan, LoadResult } from "./load.ts";

/** Pins servers to the first core and the load generator to the second, if taskset is available. */
const taskset = navigator.hardwareConcurrency > 1 ? Bun.which("taskset") : null;
export const pinning =
  taskset === null ? "not pinned to cores" : "server on core 0, load on core 1";

type Core = 0 | 1;

const startTimeoutMs = 10_000;
const stopTimeoutMs = 10_000;

function onCore(core: Core, command: readonly string[]): string[] {
  return taskset === null ? [...command] : [taskset, "--cpu-list", String(core), ...command];
}

const endings = new Set<() => void>();
process.on("exit", () => {
  for (const end of endings) end();
});

/** Calls `end` when this process exits, also by Ctrl-C. The returned function cancels that. */
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
 * Starts a server on 127.0.0.1 and waits until it listens. The port is passed as `env.PORT`.
 */
export async function startServer(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  core: Core = 0,
): Promise<Server> {
  const port = freePort();
  const child = Bun.spawn(onCore(core, command), {
    env: { PATH: process.env["PATH"], NODE_ENV: "production", ...env, PORT: String(port) },
    stdout: "inherit",
    stderr: "inherit",
  });
  const unregister = atExit(() => child.kill("SIGKILL"));
  const server: Server = {
    port,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      await child.exited;
      clearTimeout(timer);
      unregister();
    },
  };
  const deadline = performance.now() + startTimeoutMs;
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await server.stop();
      throw new Error(`The server did not start: ${command.join(" ")}`);
    }
    await Bun.sleep(20);
  }
  return server;
}

/** Runs the load generator against a server. `server` is its name in error messages. */
export async function runLoad(server: string, plan: LoadPlan): Promise<LoadResult> {
  const command = ["bun", join(import.meta.dir, "load.ts"), JSON.stringify(plan)];
  const child = Bun.spawn(onCore(1, command), { stdout: "pipe", stderr: "inherit" });
  const unregister = atExit(() => child.kill("SIGKILL"));
  const output = await child.stdout.text();
  unregister();
  if ((await child.exited) !== 0)
    throw new Error(`The load on "${server}" failed. See the output above.`);
  return JSON.parse(output);
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
