import { statSync } from "node:fs";
import { join } from "node:path";

import { compile, skyhookEntrypoints } from "../scripts/build.ts";

import { skyhookEnvironment } from "./contestants.ts";
import { withFolder } from "./folder.ts";
import { median, threadMicrosOf } from "./measure.ts";
import { startServer } from "./processes.ts";
import { cells, table } from "./report.ts";
import { inTurns } from "./rounds.ts";
import type { Suite } from "./suite.ts";

/** S1: the processor time of the executable from its start to its first response. H is that of a bare server. */
export const start: Suite = {
  name: "start",
  about: "start of the executable ÷ start of a bare server (S1), and its size",
  run: (options) =>
    withFolder("start", async (folder) => {
      const bare = [join(import.meta.dir, "servers/ceiling.ts")];
      const [hello = ""] = await compile(bare, join(folder, "hello"));
      const [program = ""] = await compile(skyhookEntrypoints, join(folder, "skyhook"));
      const runRound = async () => ({
        H: await startMicros([hello], {}),
        start: await startMicros([program, "serve"], skyhookEnvironment(folder)),
      });
      // The first start creates the database and reads the executable from disk.
      await runRound();
      const rounds = await inTurns(options.rounds, runRound);
      const figures = {
        H: rounds.map(({ H }) => H),
        start: rounds.map((round) => round.start),
        executable: [statSync(program).size / 1e6],
      };
      const row = (name: string, file: string, micros: readonly number[]) => [
        name,
        cells.decimals(median(micros) / 1_000, 1),
        cells.decimals(statSync(file).size / 1e6, 0),
      ];
      return {
        figures,
        text: [
          `Processor time of the running threads, from the start until the first response; ${rounds.length} rounds; medians. The database exists.`,
          "",
          table(
            ["executable", "CPU ms", "MB"],
            [
              row("bare Bun.serve (H)", hello, figures.H),
              row("skyhook serve", program, figures.start),
            ],
          ),
        ],
      };
    }),
};

async function startMicros(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const server = await startServer(command, env);
  try {
    await (await fetch(`http://127.0.0.1:${server.port}`)).bytes();
    return threadMicrosOf(server.pid);
  } finally {
    await server.stop();
  }
}
