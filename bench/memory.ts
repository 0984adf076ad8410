import { readFileSync } from "node:fs";

import { delivery, skyhook } from "./contestants.ts";
import { withFolder } from "./folder.ts";
import { runLoad } from "./processes.ts";
import { cells, table } from "./report.ts";
import type { Options, Suite } from "./suite.ts";

/** M1: the memory of the process during and after many webhooks at full load. */
export const memory: Suite = {
  name: "memory",
  about: "memory after 250,000 webhooks at full load (M1)",
  async run(options) {
    const samples = await memorySamples(5, options);
    const own = (part: number) => [(samples[part]?.anonymous ?? Number.NaN) / 1e6];
    return {
      figures: { memory50k: own(1), memory250k: own(5) },
      text: [
        "One server, 64 connections, full load. Resident memory includes mapped pages of the database, so it grows",
        "with the database. The system reclaims such pages when it needs memory. Own memory is resident memory",
        "without pages of files.",
        "",
        table(
          ["webhooks", "own memory MB", "resident MB", "peak resident MB"],
          samples.map(({ webhooks, rss, anonymous, peak }) => [
            cells.perSecond(webhooks),
            ...[anonymous, rss, peak].map(mega),
          ]),
        ),
      ],
    };
  },
};

/** A sample before the first webhook and after each 50,000. */
export const memorySamples = (
  parts: number,
  { connections, isTrial }: Options,
): Promise<readonly Sample[]> =>
  withFolder("memory", async (folder) => {
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
          requests: isTrial ? 2_500 : 50_000,
          repeats: false,
        });
        const sample = sampleOf(server.pid, (samples.at(-1)?.webhooks ?? 0) + acknowledged);
        console.log(`  ${cells.perSecond(sample.webhooks)} webhooks: ${mega(sample.rss)} MB`);
        samples.push(sample);
      }
    } finally {
      await server.stop();
    }
    return samples;
  });

interface Sample {
  readonly webhooks: number;
  /** Resident memory in bytes, and its part that is not backed by files. */
  readonly rss: number;
  readonly anonymous: number;
  readonly peak: number;
}

function sampleOf(pid: number, webhooks: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1_024;
  return { webhooks, rss: bytes("VmRSS"), anonymous: bytes("RssAnon"), peak: bytes("VmHWM") };
}

const mega = (bytes: number): string => cells.decimals(bytes / 1e6, 0);
