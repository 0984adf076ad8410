import { Database } from "bun:sqlite";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { defaultProviders } from "../src/gateway/providers/catalogue.ts";

import { tokenSettings } from "./api-requests.ts";
import { withFolder } from "./folder.ts";
import { startLoad, startServer } from "./processes.ts";
import { environment, writeSection } from "./report.ts";
import { fill } from "./rows.ts";
import type { SoakPlan, SoakTick } from "./soak-load.ts";
import { judge, type Sample, sampleTable, verdictTable } from "./soak-verdict.ts";

// `bun run soak`: months of a server's life in minutes, and whether it stays as it was.

const usage = `Usage: bun run soak [options]

Runs a real server under an even load, with a clock so fast that retention holds within the run, watches its memory, latency, database and log, and says whether they stay flat.

Options
  --webhooks N    deliveries (1,000,000)
  --bookings N    bookings, sent in between (100,000)
  --minutes M     the load is spread over so long; a slower server takes longer (6)
  --at-most M     the load ends after so many minutes, done or not (60)
  --help          this text

A run of at least 100,000 webhooks writes its section of RESULTS.md.`;

const tickSeconds = 5;
const connections = 128;
/** The clock goes so far ahead in the whole run: four times as long as events are kept. */
const wholeDays = 28;
const eventDays = 7;
const bodyDays = 2;
const bookingsPerFlight = 200;

const secretOf = Object.fromEntries(defaultProviders.map((id) => [id, `soak-secret-of-${id}`]));

interface Options {
  readonly webhooks: number;
  readonly bookings: number;
  readonly minutes: number;
  readonly "at-most": number;
}

const fewestToReport = 100_000;
const usual: Options = { webhooks: 1_000_000, bookings: 100_000, minutes: 6, "at-most": 60 };

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

try {
  const { values } = parseArgs({
    options: {
      webhooks: { type: "string" },
      bookings: { type: "string" },
      minutes: { type: "string" },
      "at-most": { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) console.log(usage);
  else await soak(readOptions(values));
} catch (error) {
  console.error(`soak: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

/** The bounds keep a slip of the finger from filling the disk. */
function readOptions(given: Readonly<Record<string, string | boolean | undefined>>): Options {
  const number = (name: keyof Options, least: number, most: number): number => {
    const value = Number(given[name] ?? usual[name]);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new Error(`--${name} must be a whole number from ${least} to ${most}`);
  };
  return {
    webhooks: number("webhooks", 1_000, 20_000_000),
    bookings: number("bookings", 100, 2_000_000),
    minutes: number("minutes", 1, 24 * 60),
    "at-most": number("at-most", 1, 48 * 60),
  };
}

async function soak(options: Options): Promise<void> {
  const samples: Sample[] = [];
  const bytesKept = await withFolder("soak", (folder) => run(folder, options, samples));
  const verdicts = judge(samples, bytesKept);
  const last = samples.at(-1);
  const section = [
    `${count(last?.webhooks ?? 0)} webhooks of every listed event and ${count(last?.bookings ?? 0)} bookings acknowledged, of ${count(options.webhooks)} and ${count(options.bookings)} planned`,
    `for ${options.minutes} minutes, in ${Math.round(last?.seconds ?? 0)} s, by ${connections} connections. The server's clock runs ${count(Math.round(clockSpeed(options)))} times as fast, ${wholeDays} days`,
    `in ${options.minutes} minutes, and its timers with it; events are kept for ${eventDays} days and bodies for ${bodyDays}.`,
    `No operator gateway is set, notifications end in the feed. Bookings`,
    `are kept for ever: ${Math.round(bytesKept)} bytes each, which the database's growth is judged without. Quarters are those of`,
    `the run; samples are of ${tickSeconds} s.`,
    "",
    environment(["server on core 0, load on core 1; whatever else ran there was not stopped"]),
    "",
    verdictTable(verdicts),
    "",
    sampleTable(samples),
  ].join("\n");
  console.log(`\n${section}`);
  if (options.webhooks >= fewestToReport) await writeSection("soak", section);
  if (verdicts.some(({ passed }) => !passed)) process.exitCode = 1;
}

function count(value: number): string {
  return value.toLocaleString("en");
}

function clockSpeed({ minutes }: Options): number {
  return (wholeDays * 24 * 60) / minutes;
}

/** Runs the server under its load, and fills `samples`. Bytes in the database for one booking. */
async function run(folder: string, options: Options, samples: Sample[]): Promise<number> {
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
    const { webhooks, bookings, minutes } = options;
    await watch(file, server.pid, samples, {
      port: server.port,
      webhooks,
      bookings,
      requestsPerSecond: (webhooks + bookings) / (minutes * 60),
      mostSeconds: options["at-most"] * 60,
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

/** Runs the load, and looks at the server and its files at each of its ticks. */
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
      // A tick of a moment would tell of a handful of requests.
      const isWhole = !tick.isLast || before === null;
      const sample = {
        seconds: (performance.now() - startMs) / 1_000,
        ...tick,
        ...lookAt(file, pid),
      };
      if (isWhole) samples.push(sample);
      else
        samples[samples.length - 1] = {
          ...sample,
          p50Ms: before?.p50Ms ?? 0,
          p99Ms: before?.p99Ms ?? 0,
        };
      before = tick;
      const done = (tick.webhooks + tick.bookings + tick.refused) / (plan.webhooks + plan.bookings);
      console.log(`${Math.floor(done * 100)} %  ${told(sample)}`);
    }
  }
  if ((await load.exited) !== 0) throw new Error("The load failed; see above");
}

function told(sample: Sample): string {
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  return [
    `${Math.round(sample.seconds)} s`,
    `${count(sample.webhooks)} webhooks, ${count(sample.bookings)} bookings, ${sample.refused} refused`,
    `p50 ${sample.p50Ms.toFixed(1)} ms, p99 ${sample.p99Ms.toFixed(1)} ms`,
    `memory ${megabytes(sample.memoryBytes)}, database ${megabytes(sample.databaseBytes)} (${megabytes(sample.freeBytes)} free), log ${megabytes(sample.logBytes)}, ${count(sample.events)} events`,
  ].join(" · ");
}

function lookAt(file: string, pid: number) {
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

/** Resident memory without files mapped into it: SQLite maps the database, which is not ours to keep. */
function memoryBytesOf(pid: number): number {
  const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1_024;
}

/** What was acknowledged must be there and whole. Returns the bytes in the database for one booking. */
function checkStored(file: string, acknowledged: number): number {
  using database = new Database(file, { readonly: true });
  const valueOf = (query: string) => database.query(query).values()[0]?.[0];
  const checks: readonly (readonly [string, unknown, unknown])[] = [
    ["bookings stored", valueOf("select count(*) from bookings"), acknowledged],
    ["seats sold", valueOf("select sum(seats - seats_available) from flights"), acknowledged],
    ["integrity check", valueOf("pragma integrity_check(1)"), "ok"],
  ];
  for (const [what, found, expected] of checks) {
    if (found !== expected) throw new Error(`${what}: ${String(found)}, not ${String(expected)}`);
  }
  const bytes = valueOf(
    "select sum(pgsize) from dbstat join sqlite_schema using (name) where tbl_name in ('bookings', 'passengers')",
  );
  return Number(bytes) / acknowledged;
}
