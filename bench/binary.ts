import { connect } from "node:net";
import { join } from "node:path";

import { compile, skyhookEntrypoints } from "../scripts/build.ts";

import { withFolder } from "./folder.ts";
import { median } from "./measure.ts";
import { atExit } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import type { Suite } from "./suite.ts";

/** S1: the time from the start of the compiled program, with a new database, to its first response. */
export const binary: Suite = {
  name: "binary",
  about: "compiled program: start to first response (S1), beside a compiled hello-world",
  run: ({ rounds }) =>
    withFolder("binary", async (folder) => {
      console.log("Compiling both…");
      const [skyhook, hello] = [join(folder, "skyhook"), join(folder, "hello")];
      await compile(skyhookEntrypoints, skyhook);
      await compile([here("servers/hello.ts")], hello);
      const times: { skyhook: number; hello: number }[] = [];
      // The first start reads the program from disk and is not counted.
      for (let round = 0; round <= rounds * 4; round += 1) {
        const own = join(folder, `data-${round}`);
        const sample = {
          hello: await startToResponse([hello], own),
          skyhook: await startToResponse([skyhook, "serve"], own),
        };
        if (round > 0) times.push(sample);
      }
      return section(times, { skyhook: Bun.file(skyhook).size, hello: Bun.file(hello).size });
    }),
};

const here = (path: string): string => join(import.meta.dir, path);

const timeoutMs = 20_000;

/** Milliseconds from the start of a process to its first response. */
async function startToResponse(command: readonly string[], folder: string): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const startedMs = performance.now();
  const child = Bun.spawn([...command], {
    env: { PORT: String(port), HOST: "127.0.0.1", DATA_DIR: folder, LOG_LEVEL: "error" },
    stdout: "ignore",
    stderr: "inherit",
  });
  const unregister = atExit(() => child.kill("SIGKILL"));
  try {
    while (!(await responds(port))) {
      if (child.exitCode !== null || performance.now() - startedMs > timeoutMs) {
        throw new Error(`No response from: ${command.join(" ")}`);
      }
      await Bun.sleep(0.5);
    }
    return performance.now() - startedMs;
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    unregister();
  }
}

/** Sends a request over a new connection. False if the server does not listen yet. */
function responds(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    });
    socket.on("data", (chunk) => {
      resolve(chunk.toString("latin1").startsWith("HTTP/1.1 200"));
      socket.destroy();
    });
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
  });
}

function section(
  times: readonly { readonly skyhook: number; readonly hello: number }[],
  bytes: { readonly skyhook: number; readonly hello: number },
): string {
  const row = (name: string, of: "skyhook" | "hello"): string[] => [
    name,
    cells.decimals(median(times.map((time) => time[of])), 1),
    cells.decimals(Math.max(...times.map((time) => time[of])), 1),
    cells.decimals(bytes[of] / 1e6, 1),
  ];
  return [
    `${times.length} alternating starts of each program in an empty folder. skyhook creates its database and keys and responds`,
    "to `GET /`. Both programs are compiled with the options of `bun run build`. Not pinned to a core.",
    "",
    environment([]),
    "",
    table(
      ["program", "median ms", "worst ms", "size MB"],
      [row("hello-world", "hello"), row("skyhook serve", "skyhook")],
    ),
    "",
    goalTable([
      {
        goal: "S1 start to first response, ms",
        ratios: times.map((time) => time.skyhook),
        target: 100,
        better: "lower",
      },
      {
        goal: "skyhook ÷ hello-world",
        ratios: times.map((time) => time.skyhook / time.hello),
        better: "lower",
      },
    ]),
  ].join("\n");
}
