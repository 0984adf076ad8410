import { connect } from "node:net";

/** Servers run on the first core and the generator on the second, where the system can pin them. */
const taskset = navigator.hardwareConcurrency > 1 ? Bun.which("taskset") : null;
export const pinning =
  taskset === null ? "not pinned to cores" : "server on core 0, load on core 1";

const startTimeoutMs = 10_000;
const stopTimeoutMs = 10_000;

export function onCore(core: 0 | 1, command: readonly string[]): string[] {
  return taskset === null ? [...command] : [taskset, "--cpu-list", String(core), ...command];
}

/** A server under test. */
export interface Server {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a server that listens on `env.PORT` of 127.0.0.1, and waits until it does. */
export async function startServer(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Server> {
  const port = freePort();
  const child = Bun.spawn(onCore(0, command), {
    env: { PATH: process.env["PATH"], NODE_ENV: "production", ...env, PORT: String(port) },
    stdout: "inherit",
    stderr: "inherit",
  });
  const server: Server = {
    port,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      const patience = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
      await child.exited;
      clearTimeout(patience);
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
