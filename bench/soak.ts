import { Database } from "bun:sqlite";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { defaultProviders } from "../src/inbound/providers/catalogue.ts";
import { type LongRun, minutes } from "../test/slow/long-run.ts";

import { tokenSettings } from "./api-requests.ts";
import { withFolder } from "./folder.ts";
import { startLoad, startServer } from "./processes.ts";
import { environment, writeSection } from "./report.ts";
import { fill } from "./rows.ts";
import type { SoakPlan, SoakTick } from "./soak-load.ts";
import { judge, type Sample, sampleTable, verdictTable } from "./soak-verdict.ts";

// `bun run soak`: simulates weeks of operation in minutes and checks that memory, latency and files stay flat.

const tickSeconds = 5;
const connections = 128;
/** The simulated time of the whole run, four times the retention of events. */
const wholeDays = 28;
const eventDays = 7;
const bodyDays = 2;
const bookingsPerFlight = 200;

const secretOf = Object.fromEntries(defaultProviders.map((id) => [id, `soak-secret-of-${id}`]));

interface Plan {
  readonly webhooks: number;
  readonly bookings: number;
  readonly minutes: number;
  readonly maxMinutes: number;
}

const minToReport = 100_000;

// The bounds prevent a typing error from filling the disk.
export const soak: LongRun = {
  name: "soak",
  about: "simulates weeks of operation in minutes and checks memory, latency, database and log",
  description: `Runs a real server under a constant load, with a clock so fast that retention applies within the run, and checks
that memory, latency, database and log stay flat. A run of at least ${minToReport.toLocaleString("en")} webhooks updates its section of
RESULTS.md.`,
  flags: {
    webhooks: {
      takes: "number",
      about: "deliveries",
      usual: 1_000_000,
      least: 1_000,
      most: 20_000_000,
    },
    bookings: {
      takes: "number",
      about: "bookings, distributed among the deliveries",
      usual: 100_000,
      least: 100,
      most: 2_000_000,
    },
    minutes: minutes(6, "duration of the load; longer with a slower server"),
    "at-most": minutes(60, "time limit of the load in minutes"),
  },

  async run(options) {
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
    const [webhooks, bookings] = [options.number("webhooks"), options.number("bookings")];
    const [length, maxMinutes] = [options.number("minutes"), options.number("at-most")];
    return live({ webhooks, bookings, minutes: length, maxMinutes });
  },
};

/** Returns whether all checks passed. */
async function live(options: Plan): Promise<boolean> {
  const samples: Sample[] = [];
  const bytesKept = await withFolder("soak", (folder) => run(folder, options, samples));
  const verdicts = judge(samples, bytesKept);
  const last = samples.at(-1);
  const section = [
    `${count(last?.webhooks ?? 0)} webhooks of every listed event and ${count(last?.bookings ?? 0)} bookings acknowledged, of ${count(options.webhooks)} and ${count(options.bookings)} planned`,
    `for ${options.minutes} minutes, in ${Math.round(last?.seconds ?? 0)} s, by ${connections} connections. The server's clock and timers run ${count(Math.round(clockSpeed(options)))} times as fast, ${wholeDays} days`,
    `in ${options.minutes} minutes. Events are kept for ${eventDays} days and bodies for ${bodyDays}. No operator gateway is set, so notifications`,
    `end in the feed. Bookings are never deleted and take ${Math.round(bytesKept)} bytes each, which are excluded from the growth of the`,
    `database. Quarters are those of the run; samples are taken every ${tickSeconds} s.`,
    "",
    environment(["server on core 0, load on core 1; other processes kept running"]),
    "",
    verdictTable(verdicts),
    "",
    sampleTable(samples),
  ].join("\n");
  console.log(`\n${section}`);
  if (options.webhooks >= minToReport) await writeSection("soak", section);
  return verdicts.every(({ passed }) => passed);
}

function count(value: number): string {
  return value.toLocaleString("en");
}

function clockSpeed({ minutes: length }: Plan): number {
  return (wholeDays * 24 * 60) / length;
}

/** Runs the server under load and fills `samples`. Returns the bytes per booking in the database. */
async function run(folder: string, options: Plan, samples: Sample[]): Promise<number> {
  const file = join(folder, "skyhook.db");
  const flights = Math.ceil(options.bookings / bookingsPerFlight);
  fill(file, [{ table: "flights", rows: flights, stepMs: 1_000 }]);
  const server = await startServer(["bun", join(import.meta.dir, "servers/soak.ts")], {
    HOST: "127.0.0.1",
    DATA_DIR: folder,
    SECRETS_DIR: folder,
    LOG_LEVEL: "warn",
    JWT_SECRET: tokenSettings.key,
    EVENT_RETENTION_DAYS: String(eventDays),
    BODY_RETENTION_DAYS: String(bodyDays),
    CLOCK_SPEED: String(clockSpeed(options)),
    ...Object.fromEntries(
      Object.entries(secretOf).map(([id, secret]) => [
        `${id.toUpperCase()}_WEBHOOK_SECRET`,
        secret,
      ]),
    ),
  });
  try {
    const { webhooks, bookings, minutes: length, maxMinutes } = options;
    await watch(file, server.pid, samples, {
      port: server.port,
      webhooks,
      bookings,
      requestsPerSecond: (webhooks + bookings) / (length * 60),
      maxSeconds: maxMinutes * 60,
      connections,
      flights,
      secretOf,
      tickSeconds,
    });
  } finally {
    await server.stop();
  }
  return checkStored(file, samples.at(-1)?.bookings ?? 0);
}

/** Runs the load, and samples the server and its files at each tick. */
async function watch(file: string, pid: number, samples: Sample[], plan: SoakPlan): Promise<void> {
  const load = startLoad(["bun", join(import.meta.dir, "soak-load.ts"), JSON.stringify(plan)]);
  const startMs = performance.now();
  let before: SoakTick | null = null;
  let rest = "";
  for await (const text of load.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const tick: SoakTick = JSON.parse(line);
      // The last tick may cover only a few requests, so it reuses the latencies of the previous one.
      const isWhole = !tick.isLast || before === null;
      const sample = {
        seconds: (performance.now() - startMs) / 1_000,
        ...tick,
        ...stateOf(file, pid),
      };
      if (isWhole) samples.push(sample);
      else
        samples[samples.length - 1] = {
          ...sample,
          p50Ms: before?.p50Ms ?? 0,
          p99Ms: before?.p99Ms ?? 0,
        };
      before = tick;
      const done = (tick.webhooks + tick.bookings + tick.failed) / (plan.webhooks + plan.bookings);
      console.log(`${Math.floor(done * 100)} %  ${textOf(sample)}`);
    }
  }
  if ((await load.exited) !== 0) throw new Error("The load failed. See the output above.");
}

function textOf(sample: Sample): string {
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  return [
    `${Math.round(sample.seconds)} s`,
    `${count(sample.webhooks)} webhooks, ${count(sample.bookings)} bookings, ${sample.failed} failed`,
    `p50 ${sample.p50Ms.toFixed(1)} ms, p99 ${sample.p99Ms.toFixed(1)} ms`,
    `memory ${megabytes(sample.memoryBytes)}, database ${megabytes(sample.databaseBytes)} (${megabytes(sample.freeBytes)} free), log ${megabytes(sample.logBytes)}, ${count(sample.events)} events`,
  ].join(" · ");
}

function stateOf(file: string, pid: number) {
  using database = new Database(file, { readonly: true });
  const numberOf = (query: string) => Number(database.query(query).values()[0]?.[0]);
  return {
    memoryBytes: memoryBytesOf(pid),
    databaseBytes: statSync(file).size,
    logBytes: existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0,
    freeBytes: numberOf("pragma freelist_count") * numberOf("pragma page_size"),
    events: numberOf("select count(*) from events"),
  };
}

/** Resident memory without mapped files, because SQLite maps the database. */
function memoryBytesOf(pid: number): number {
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1_024;
}

/** Checks the database and that all acknowledged bookings are stored. Returns the bytes per booking. */
function checkStored(file: string, acknowledged: number): number {
  using database = new Database(file, { readonly: true });
  const valueOf = (query: string) => database.query(query).values()[0]?.[0];
  const checks: readonly (readonly [string, unknown, unknown])[] = [
    ["bookings stored", valueOf("select count(*) from bookings"), acknowledged],
    ["seats sold", valueOf("select sum(seats - seats_available) from flights"), acknowledged],
    ["integrity check", valueOf("pragma integrity_check(1)"), "ok"],
  ];
  for (const [what, found, expected] of checks) {
    if (found !== expected)
      throw new Error(`${what}: found ${String(found)}, expected ${String(expected)}`);
  }
  const bytes = valueOf(
    "select sum(pgsize) from dbstat join sqlite_schema using (name) where tbl_name in ('bookings', 'passengers')",
  );
  return Number(bytes) / acknowledged;
}
