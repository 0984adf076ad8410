import { readFileSync } from "node:fs";

import { delivery, skyhook } from "./contestants.ts";
import { withFolder } from "./folder.ts";
import { runLoad } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import type { Suite } from "./suite.ts";

/** M1: the memory of the process during and after many deliveries at full load. */
export const memory: Suite = {
  name: "memory",
  about: "memory after 200,000 webhooks at full load (M1)",
  run: ({ connections, warmUp }) =>
    withFolder("memory", async (folder) => {
      const parts = 4;
      // `--quick` has a short warm-up.
      const deliveriesEach = warmUp < 15_000 ? 2_500 : 50_000;
      const server = await skyhook.start(folder);
      const samples = [sampleOf(server.pid, 0)];
      try {
        for (let part = 1; part <= parts; part += 1) {
          const { acknowledged } = await runLoad(skyhook.name, {
            send: { kind: "deliveries", ...delivery },
            port: server.port,
            serverPid: server.pid,
            connections,
            seconds: 600,
            warmUp: 0,
            requests: deliveriesEach,
            repeats: false,
          });
          const sample = sampleOf(server.pid, (samples.at(-1)?.deliveries ?? 0) + acknowledged);
          console.log(`  ${cells.perSecond(sample.deliveries)} deliveries: ${mega(sample.rss)} MB`);
          samples.push(sample);
        }
      } finally {
        await server.stop();
      }
      return section(samples);
    }),
};

interface Sample {
  readonly deliveries: number;
  /** Resident memory in bytes, and its part that is not backed by files. */
  readonly rss: number;
  readonly anonymous: number;
  readonly peak: number;
}

function sampleOf(pid: number, deliveries: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1_024;
  return { deliveries, rss: bytes("VmRSS"), anonymous: bytes("RssAnon"), peak: bytes("VmHWM") };
}

const mega = (bytes: number): string => cells.decimals(bytes / 1e6, 0);

function section(samples: readonly Sample[]): string {
  return [
    "One server, 64 connections, full load. Resident memory includes mapped pages of the database, so it grows",
    "with the database. The system reclaims such pages when it needs memory. Own memory is resident memory",
    "without pages of files.",
    "",
    environment([]),
    "",
    table(
      ["deliveries", "own memory MB", "resident MB", "peak resident MB"],
      samples.map(({ deliveries, rss, anonymous, peak }) => [
        cells.perSecond(deliveries),
        mega(anonymous),
        mega(rss),
        mega(peak),
      ]),
    ),
    "",
    goalTable([
      {
        goal: "M1 own memory after the last delivery, MB",
        ratios: [(samples.at(-1)?.anonymous ?? Number.NaN) / 1e6],
        target: 120,
        better: "lower",
      },
      {
        goal: "M1 own memory, third part ÷ first",
        ratios: [(samples[3]?.anonymous ?? Number.NaN) / (samples[1]?.anonymous ?? Number.NaN)],
        target: 1.15,
        better: "lower",
      },
    ]),
  ].join("\n");
}
