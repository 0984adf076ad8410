import { cpus } from "node:os";
import { join } from "node:path";

import { median } from "./measure.ts";
import type { OpenLoadResult, StreamResult } from "./open-load.ts";
import { cells, environment, type Goal, goalTable, table } from "./report.ts";
import type { Options, Program } from "./suite.ts";

/** The latencies of a stream, and how busy the processes were. */
export type Measured = StreamResult & Omit<OpenLoadResult, "streams">;

/** A measured load. All are kept in a file, so that later versions can be compared with earlier ones. */
export interface LatencySample extends Omit<Measured, "othersBusy"> {
  readonly othersBusy?: number;
  readonly about: ProgramOnDisk;
  readonly load: Load;
  /** The most deliveries per second. */
  readonly saturation: number;
  readonly ratePerSecond: number;
}

export interface ProgramOnDisk {
  readonly program: string;
  readonly commit: string;
  readonly date: string;
  readonly machine: string;
  /** How much longer syncs took than the disk needed. */
  readonly fsyncMs: number;
  /** The median time of one synced commit of a row. */
  readonly commitMs: number;
}

/** Deliveries at a ratio of the saturation, or page reads beside deliveries. */
export type Load = (typeof deliveryLoads)[number]["load"] | "reads";
export const deliveryLoads = [
  { load: "25 %", ratio: 0.25 },
  { load: "50 %", ratio: 0.5 },
  { load: "75 %", ratio: 0.75 },
  { load: "90 %", ratio: 0.9 },
] as const;

export function programOnDisk(
  { name, folder }: Program,
  disk: Pick<ProgramOnDisk, "fsyncMs" | "commitMs">,
): ProgramOnDisk {
  const { stdout } = Bun.spawnSync(["git", "-C", folder, "rev-parse", "--short", "HEAD"]);
  return {
    program: name,
    commit: stdout.toString().trim(),
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpus()[0]?.model}`,
    ...disk,
  };
}

const file = join(import.meta.dir, "latency.ndjson");

/** Stores samples and returns all. Those of the same programs and disks are replaced, unless `adds`. */
export async function storeSamples(
  samples: readonly LatencySample[],
  { adds, isTrial }: Options,
): Promise<readonly LatencySample[]> {
  if (isTrial) return samples;
  const isReplaced = ({ about }: LatencySample) =>
    samples.some((other) => keyOf(other.about) === keyOf(about));
  const all = [...(await storedSamples()).filter((old) => adds || !isReplaced(old)), ...samples];
  await Bun.write(file, all.map((sample) => `${JSON.stringify(sample, rounded)}\n`).join(""));
  return all;
}

async function storedSamples(): Promise<readonly LatencySample[]> {
  if (!(await Bun.file(file).exists())) return [];
  const lines = (await Bun.file(file).text()).trimEnd().split("\n");
  // Guarantee: only `storeSamples` writes the file.
  return lines.map((line) => JSON.parse(line) as LatencySample);
}

const keyOf = ({ program, fsyncMs }: ProgramOnDisk): string => `${program} ${fsyncMs}`;

const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" ? Math.round(value * 1_000) / 1_000 : value;

export function latencySection(samples: readonly LatencySample[]): string {
  const programs = [...new Set(samples.map(({ about }) => about.program))];
  return [
    "Open loop: a request is due at a fixed time, whatever the server does, and its latency counts from then. Latencies of a",
    "closed loop, as in the other suites, leave out the requests that it does not send while it waits. Deliveries are signed,",
    "on 512 connections, at a share of the saturation, which a closed loop of 256 connections finds on the same disk. Reads",
    "are `GET /v1/users?limit=20`, 400 a second, beside 400 deliveries a second. Retention deletes as many events as arrive and",
    "as many bodies, every 2 s; checkpoints run. On a slow disk, each fsync and fdatasync takes longer by the time that is",
    `shown. A run disturbed by other processes is repeated once. Medians of the rounds${programs.length > 1 ? `; ${programs.join(" → ")}` : ""}.`,
    "",
    environment([
      "neither servers nor load pinned to a core",
      ...programs.map((name) => aboutOf(samples, name)),
    ]),
    "",
    latencyTable(samples, programs),
    "",
    goalTable(programs.flatMap((name) => goalsOf(samples, name, name === programs.at(-1)))),
  ].join("\n");
}

function aboutOf(samples: readonly LatencySample[], name: string): string {
  const own = samples.filter(({ about, load }) => about.program === name && load === "reads");
  const of = (figure: "commit" | "date" | "machine") =>
    [...new Set(own.map(({ about }) => about[figure]))].join(", ");
  const rounds = disksOf(own).map(
    (disk) => own.filter(({ about }) => about.fsyncMs === disk).length,
  );
  return `${name}: commit ${of("commit")}, ${[...new Set(rounds)].join(" or ")} rounds, ${of("date")}, ${of("machine")}`;
}

const disksOf = (samples: readonly LatencySample[]): readonly number[] =>
  [...new Set(samples.map(({ about }) => about.fsyncMs))].toSorted((one, other) => one - other);

const nameOf = (fsyncMs: number): string => (fsyncMs === 0 ? "as it is" : `+ ${fsyncMs} ms`);

function latencyTable(samples: readonly LatencySample[], programs: readonly string[]): string {
  const loads = [...deliveryLoads.map(({ load }) => load), "reads" as const];
  const columns = [
    ["requests/s", (sample: LatencySample) => sample.ratePerSecond, 0],
    ["p50 ms", (sample: LatencySample) => sample.p50Ms, 1],
    ["p90 ms", (sample: LatencySample) => sample.p90Ms, 1],
    ["p99 ms", (sample: LatencySample) => sample.p99Ms, 1],
    ["p99.9 ms", (sample: LatencySample) => sample.p999Ms, 1],
    ["max ms", (sample: LatencySample) => sample.maxMs, 0],
    ["main thread busy %", (sample: LatencySample) => sample.mainBusy * 100, 0],
    ["failed", (sample: LatencySample) => sample.failed, 0],
    // The first rounds did not measure it.
    ["other load %", (sample: LatencySample) => (sample.othersBusy ?? Number.NaN) * 100, 0],
  ] as const;
  const rows = disksOf(samples).flatMap((disk) =>
    loads.map((load) => [
      nameOf(disk),
      load === "reads" ? "reads" : `deliveries at ${load}`,
      ...columns.map(([, figure, digits]) =>
        programs
          .map((name) => median(found(samples, name, disk, load).map(figure)))
          .map((value) => cells.decimals(value, digits))
          .join(" → "),
      ),
    ]),
  );
  return table(["fsync", "load", ...columns.map(([title]) => title)], rows);
}

/** The samples of all rounds. */
const found = (samples: readonly LatencySample[], name: string, disk: number, of: Load) =>
  samples.filter(
    ({ about, load }) => about.program === name && about.fsyncMs === disk && load === of,
  );

/** The disk that L1 compares with the disk as it is. */
const slowFsyncMs = 8;

/** The goals for a program; for an earlier version, only its figures. */
function goalsOf(
  samples: readonly LatencySample[],
  name: string,
  isLast: boolean,
): readonly Goal[] {
  const slow = found(samples, name, slowFsyncMs, "reads");
  const fast = found(samples, name, 0, "reads");
  const rounds = Math.min(slow.length, fast.length);
  const bound = (target: number) => (isLast ? { target } : {});
  return [
    ...(rounds === 0
      ? []
      : [
          {
            goal: `L1 ${name}: p99 of reads, fsync + ${slowFsyncMs} ms ÷ as it is`,
            ratios: slow
              .slice(0, rounds)
              .map(({ p99Ms }, round) => p99Ms / (fast[round]?.p99Ms ?? Number.NaN)),
            better: "lower" as const,
            ...bound(1.5),
          },
        ]),
    ...disksOf(samples).flatMap((disk) => {
      const half = found(samples, name, disk, "50 %");
      if (half.length === 0) return [];
      return [
        {
          goal: `L2 ${name}: p99 of deliveries at 50 % ÷ (2 × commit + 10 ms), fsync ${nameOf(disk)}`,
          ratios: half.map(({ p99Ms, about }) => p99Ms / (2 * about.commitMs + 10)),
          better: "lower" as const,
          ...bound(1),
        },
      ];
    }),
  ];
}
