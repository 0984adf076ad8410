import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { foldLog } from "../src/db/sqlite/backup.ts";

import { tokenSettings } from "./api-requests.ts";
import { delivery, skyhookEnvironment } from "./contestants.ts";
import { commitMs, slowDisk } from "./disk.ts";
import { checkExpiring, type Expiry, fillExpiring } from "./expiring.ts";
import { withFolder } from "./folder.ts";
import {
  deliveryLoads,
  type LatencySample,
  latencySection,
  type Load,
  type Measured,
  type ProgramOnDisk,
  programOnDisk,
  storeSamples,
} from "./latency-results.ts";
import type { StreamPlan } from "./open-load.ts";
import { runLoad, runOpenLoad, type Server, startServer } from "./processes.ts";
import { cells } from "./report.ts";
import { inTurns } from "./rounds.ts";
import type { Options, Program, Suite } from "./suite.ts";

/** L1 and L2: latency in an open loop, while retention and checkpoints run, also on slow disks. */
export const latency: Suite = {
  name: "latency",
  about: "open loop: deliveries up to saturation (L2), pages beside them (L1), slow disks",
  async run(options) {
    const rounds = await inTurns(options.rounds, () =>
      withFolder("latency", (folder) => runRound(folder, options)),
    );
    return latencySection(await storeSamples(rounds.flat(), options));
  },
};

/** More than there are requests in flight below saturation. */
const deliveryConnections = 512;
const readConnections = 64;
const readsPerSecond = 400;
const deliveriesBesideReads = 400;
/** A closed loop of this many connections finds the saturation. */
const saturationConnections = 256;
/** More deliveries than the server can handle. */
const mostPerSecond = 10_000;
/** For how long the warm-up may take. */
const leastPerSecond = 1_000;
/** The saturation with retention ÷ without, roughly: retention must delete as much as comes in. */
const ratioWithRetention = 0.65;
/** A run during which other processes used more of the cores is repeated once. */
const maxOthersBusy = 0.15;
/** A run must contain several rounds of retention, and enough requests for p99.9. */
const secondsFactor = 3;
/** Time to fill the database, to start the server and to sign deliveries. Data expires meanwhile. */
const prepareSeconds = 10;

/** A program to measure on a disk. */
interface Bench {
  readonly program: Program;
  /** Settings that make the disk slow. */
  readonly disk: Readonly<Record<string, string>>;
  /** A folder of its own, with an empty database that the program has created. */
  readonly folder: string;
}

async function runRound(folder: string, options: Options): Promise<readonly LatencySample[]> {
  const samples: LatencySample[] = [];
  for (const fsyncMs of options.fsyncMs) {
    const disk = await slowDisk(folder, fsyncMs);
    const syncMs = await commitMs(folder, disk);
    if (syncMs < fsyncMs) throw new Error("The library that delays syncs has no effect");
    for (const program of options.programs) {
      const bench = { program, disk, folder: join(folder, `${program.name}-${fsyncMs}`) };
      mkdirSync(bench.folder);
      await (await start(bench, emptyFolder(bench))).stop();
      // A server that is stopped while it starts leaves a log.
      foldLog(emptyFile(bench));
      const about = programOnDisk(program, { fsyncMs, commitMs: syncMs });
      samples.push(...(await measureLoads(bench, about, options)));
    }
  }
  return samples;
}

async function measureLoads(
  bench: Bench,
  about: ProgramOnDisk,
  options: Options,
): Promise<readonly LatencySample[]> {
  const samples: LatencySample[] = [];
  const estimate = await saturation(bench, 0, options);
  const most = await saturation(bench, estimate * ratioWithRetention, options);
  /** Of several streams, the last is measured. */
  const note = (load: Load, ratePerSecond: number, streams: readonly Measured[]): void => {
    const measured = streams.at(-1);
    if (measured === undefined) throw new Error("The load had no stream");
    const sample = { about, load, saturation: most, ratePerSecond, ...measured };
    console.log(`  ${about.program}, + ${about.fsyncMs} ms, ${textOf(sample)}`);
    samples.push(sample);
  };
  for (const { load, ratio } of deliveryLoads) {
    const ratePerSecond = ratio * most;
    note(load, ratePerSecond, await openLoop(bench, [deliveriesAt(ratePerSecond)], options));
  }
  const beside = deliveriesAt(deliveriesBesideReads);
  note("reads", readsPerSecond, await openLoop(bench, [beside, reads], options));
  return samples;
}

function textOf(sample: LatencySample): string {
  const { load, ratePerSecond, failed, p50Ms, p99Ms, sentLateP99Ms, mainBusy, othersBusy } = sample;
  return [
    `${load} at ${Math.round(ratePerSecond)}/s`,
    `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, of which the generator ${sentLateP99Ms.toFixed(1)}`,
    `main thread ${cells.percent(mainBusy)} busy; others ${cells.percent(othersBusy ?? Number.NaN)} of a core`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join("; ");
}

const send = { kind: "deliveries", ...delivery } as const;

const deliveriesAt = (ratePerSecond: number): StreamPlan => ({
  send,
  ratePerSecond,
  connections: deliveryConnections,
});

const reads: StreamPlan = {
  send: { kind: "pages", paths: ["/v1/users?limit=20"] },
  ratePerSecond: readsPerSecond,
  connections: readConnections,
};

/** The most deliveries per second, while `expiringPerSecond` expire. */
function saturation(bench: Bench, expiringPerSecond: number, options: Options): Promise<number> {
  const { seconds, warmUp } = options;
  const expiry = expiryOf(expiringPerSecond, seconds + warmUp / leastPerSecond);
  return withServer(bench, expiry, async (server) => {
    const result = await runLoad(
      bench.program.name,
      {
        send,
        port: server.port,
        serverPid: server.pid,
        connections: saturationConnections,
        seconds,
        warmUp,
        requests: warmUp + mostPerSecond * seconds,
        repeats: false,
      },
      null,
    );
    return { figure: result.requestsPerSecond, acknowledged: result.acknowledged };
  });
}

/** Like `runStreams`, but repeats a run that other processes disturbed, and returns the less disturbed. */
async function openLoop(
  bench: Bench,
  streams: readonly [StreamPlan, ...StreamPlan[]],
  options: Options,
): Promise<readonly Measured[]> {
  const first = await runStreams(bench, streams, options);
  if (othersIn(first) <= maxOthersBusy) return first;
  const second = await runStreams(bench, streams, options);
  return othersIn(second) < othersIn(first) ? second : first;
}

const othersIn = (measured: readonly Measured[]): number => measured[0]?.othersBusy ?? Number.NaN;

/** Runs streams, of which the first sends deliveries. As much expires as is delivered. */
function runStreams(
  bench: Bench,
  streams: readonly [StreamPlan, ...StreamPlan[]],
  options: Options,
) {
  const warmUpSeconds = options.warmUp / streams[0].ratePerSecond;
  const seconds = options.seconds * secondsFactor;
  const expiry = expiryOf(streams[0].ratePerSecond, warmUpSeconds + seconds);
  return withServer(bench, expiry, async (server) => {
    const { port, pid: serverPid } = server;
    const plan = { port, serverPid, warmUpSeconds, seconds, streams };
    const { streams: results, ...busy } = await runOpenLoad(bench.program.name, plan);
    const figure = results.map((result) => ({ ...result, ...busy }));
    return { figure, acknowledged: results[0]?.acknowledged ?? 0 };
  });
}

const expiryOf = (perSecond: number, loadSeconds: number): Expiry => ({
  perSecond,
  seconds: perSecond === 0 ? 0 : prepareSeconds + loadSeconds,
});

/** Runs a load on a server with data that expires, and checks that the server stored what it acknowledged. */
async function withServer<Figure>(
  bench: Bench,
  expiry: Expiry,
  load: (server: Server) => Promise<{ readonly figure: Figure; readonly acknowledged: number }>,
): Promise<Figure> {
  return withFolder("latency", async (folder) => {
    const file = join(folder, "skyhook.db");
    copyFileSync(emptyFile(bench), file);
    fillExpiring(file, expiry);
    const startMs = Date.now();
    const server = await start(bench, folder);
    try {
      const { figure, acknowledged } = await load(server);
      await server.stop();
      checkExpiring(file, expiry, { startMs, acknowledged });
      return figure;
    } finally {
      await server.stop();
    }
  });
}

const emptyFolder = ({ folder }: Bench): string => join(folder, "empty");
const emptyFile = (bench: Bench): string => join(emptyFolder(bench), "skyhook.db");

/** Not pinned, so that a program may use all cores. */
function start({ program, disk }: Bench, folder: string): Promise<Server> {
  const command = ["bun", join(import.meta.dir, "servers/retaining.ts")];
  const own = { PROGRAM: program.folder, JWT_SECRET: tokenSettings.key };
  return startServer(command, { ...skyhookEnvironment(folder), ...own, ...disk }, undefined, null);
}
