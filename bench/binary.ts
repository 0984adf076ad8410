import { connect } from "node:net";
import { join } from "node:path";

import { compile, skyhookEntrypoints } from "../scripts/build.ts";

import { withFolder } from "./folder.ts";
import { mainThreadOf, median, threadMicrosOf } from "./measure.ts";
import { atExit } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import type { Suite } from "./suite.ts";

/**
 * S1: the processor time from the start of the compiled program, with a new database, to its first response, and
 * how long others wait during its first GraphQL request.
 */
export const binary: Suite = {
  name: "binary",
  about:
    "compiled program: start to first response, first GraphQL request (S1), beside a hello-world",
  run: ({ rounds }) =>
    withFolder("binary", async (folder) => {
      console.log("Compiling both…");
      const [skyhook, hello] = [join(folder, "skyhook"), join(folder, "hello")];
      await compile(skyhookEntrypoints, skyhook);
      await compile([here("servers/hello.ts")], hello);
      const starts: Starts[] = [];
      // The first start reads the program from disk and is not counted.
      for (let round = 0; round <= rounds * 4; round += 1) {
        const own = join(folder, `data-${round}`);
        const sample = {
          hello: await startToResponse([hello], own),
          skyhook: await startToResponse([skyhook, "serve"], own, first),
        };
        if (round > 0) starts.push(sample);
      }
      return section(starts, { skyhook: Bun.file(skyhook).size, hello: Bun.file(hello).size });
    }),
};

const here = (path: string): string => join(import.meta.dir, path);

const timeoutMs = 20_000;

/** In milliseconds. */
interface Start {
  /** From the start of the process to its first response. */
  readonly time: number;
  /** Processor time of all threads until then. */
  readonly cpu: number;
  /**
   * The most processor time of the main thread during one health check, while the first request of a kind is
   * answered: the longest turn of the event loop, whatever else the machine does.
   */
  readonly turns: readonly number[];
}

type Starts = Readonly<Record<"hello" | "skyhook", Start>>;

interface First {
  readonly path: string;
  readonly body?: string;
}

/** What a server prepares at its first request. Anyone can send it. */
const first: readonly First[] = [
  { path: "graphql", body: JSON.stringify({ query: "{ __typename }" }) },
  { path: "openapi.json" },
];

async function longestTurnMs(pid: number, port: number, { path, body }: First): Promise<number> {
  const url = `http://127.0.0.1:${port}/`;
  const headers = { "content-type": "application/json" };
  await (await fetch(`${url}livez`)).text();
  let isAnswered = false;
  const request = fetch(url + path, body === undefined ? {} : { method: "POST", headers, body });
  const answer = request.then((response) => response.text()).finally(() => (isAnswered = true));
  let longestMicros = 0;
  while (!isAnswered) {
    const { runMicros } = mainThreadOf(pid);
    await (await fetch(`${url}livez`)).text();
    longestMicros = Math.max(longestMicros, mainThreadOf(pid).runMicros - runMicros);
  }
  await answer;
  return longestMicros / 1_000;
}

async function startToResponse(
  command: readonly string[],
  folder: string,
  requests: readonly First[] = [],
): Promise<Start> {
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
    const [time, cpu] = [performance.now() - startedMs, threadMicrosOf(child.pid) / 1_000];
    const turns: number[] = [];
    for (const request of requests) turns.push(await longestTurnMs(child.pid, port, request));
    return { time, cpu, turns };
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

function section(starts: readonly Starts[], bytes: Readonly<Record<keyof Starts, number>>): string {
  const row = (name: string, of: keyof Starts): string[] => [
    name,
    cells.decimals(median(starts.map((start) => start[of].cpu)), 1),
    cells.decimals(median(starts.map((start) => start[of].time)), 1),
    cells.decimals(bytes[of] / 1e6, 1),
  ];
  return [
    `${starts.length} alternating starts of each program in an empty folder. skyhook creates its database and keys and responds`,
    "to `GET /`. Both programs are compiled with the options of `bun run build`. Not pinned to a core. During the first request",
    "to `/graphql` and to `/openapi.json`, `/livez` is read again and again; the longest turn is the most that the main thread did during one of these.",
    "",
    environment([]),
    "",
    table(
      ["program", "CPU ms", "time ms", "size MB"],
      [row("hello-world", "hello"), row("skyhook serve", "skyhook")],
    ),
    "",
    goalTable([
      {
        goal: "S1 start to first response, ms of processor time",
        ratios: starts.map(({ skyhook }) => skyhook.cpu),
        target: 90,
        better: "lower",
      },
      ...first.map(({ path }, index) => ({
        goal: `S1 longest turn of the first /${path}, ms of processor time`,
        ratios: starts.map(({ skyhook }) => skyhook.turns[index] ?? Number.NaN),
        target: 10,
        better: "lower" as const,
      })),
      {
        goal: "skyhook ÷ hello-world, processor time",
        ratios: starts.map(({ skyhook, hello }) => skyhook.cpu / hello.cpu),
        better: "lower",
      },
    ]),
  ].join("\n");
}
