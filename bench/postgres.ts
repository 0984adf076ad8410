import { loadavg } from "node:os";
import { join } from "node:path";

import type { SQL } from "bun";

import { tokenSettings } from "./api-requests.ts";
import { withFolder } from "./folder.ts";
import type { LoadKind, LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { inSchema, pgbench, serverVersion } from "./postgres-server.ts";
import { runLoad, type Server, startServer } from "./processes.ts";
import { cells, environment, type Goal, goalTable, table } from "./report.ts";
import { inTurns } from "./rounds.ts";
import { fill } from "./rows.ts";
import type { Options, Suite } from "./suite.ts";

/** One and several instances on a PostgreSQL server, compared with pgbench and with SQLite. */
export const postgres: Suite = {
  name: "postgres",
  about: "ingest and bookings on PostgreSQL by 1 and 2 instances ÷ pgbench, same statements",
  async run(options) {
    if (Bun.which("pgbench") === null)
      throw new Error("pgbench is not installed. Install PostgreSQL.");
    // Other load on the machine matters more here, because this suite runs many processes.
    const [before = 0] = loadavg();
    const rounds = await inTurns(Math.min(options.rounds, maxRounds), () => runRound(options));
    const busy = `load average of the machine before the start: ${cells.decimals(before, 1)}`;
    return section(options, rounds, [`PostgreSQL ${await serverVersion()}`, busy]);
  },
};

const main = join(import.meta.dir, "../src/main.ts");
const provider = "code_host";
const secret = "bench-secret-of-code-host";
const instanceCounts = [1, 2] as const;
const clientCounts = [8, 32] as const;
/** No goal depends on it, and each round takes more than a minute. */
const maxRounds = 3;
const flights = 1_000;
const users = 1_000;

/** A measured workload. */
interface Work {
  readonly name: string;
  readonly send: LoadKind;
  /** Requests to prepare. More than the server can handle, so that they do not run out. */
  readonly requestsPerSecond: number;
  readonly script: string;
  /** Counts the rows that must match the acknowledged requests. */
  readonly counted: string;
}

const works: readonly Work[] = [
  {
    name: "deliveries",
    send: { kind: "deliveries", provider, event: "workflow_run.completed", secret },
    requestsPerSecond: 15_000,
    script: "ingest.pgbench.sql",
    counted: "select count(*) from events join notifications on event_id = events.id",
  },
  {
    name: "bookings",
    send: { kind: "bookings", users, flights },
    requestsPerSecond: 12_000,
    script: "bookings.pgbench.sql",
    counted: "select sum(seats - seats_available) from flights",
  },
];

interface Rate {
  readonly perSecond: number;
  readonly p99Ms: number;
}
/** Results by the name of the contestant. */
type Figures = ReadonlyMap<string, Rate>;
/** Figures by the name of the workload. */
type Round = ReadonlyMap<string, Figures>;

const onSqlite = "1 × skyhook serve on SQLite";
const instancesName = (count: number): string => `${count} × skyhook serve on PostgreSQL`;
const clientsName = (count: number): string => `pgbench, ${count} clients`;

async function runRound(options: Options): Promise<Round> {
  const round = new Map<string, Figures>();
  for (const work of works) {
    const figures = new Map<string, Rate>();
    const note = (name: string, rate: Rate) => {
      console.log(`  ${name}: ${cells.perSecond(rate.perSecond)} ${work.name}/s`);
      figures.set(name, rate);
    };
    const sqlite = await measureSqlite(work, options);
    note(onSqlite, rateOf(sqlite));
    for (const count of instanceCounts) {
      note(
        instancesName(count),
        await inSchema((url, sql) => measure(work, url, sql, count, options)),
      );
    }
    for (const clients of clientCounts) {
      const perSecond = await inSchema(async (url, sql) => {
        await prepare(url, sql);
        const { seconds } = options;
        const variables = { bytes: sqlite.bodyBytes };
        return pgbench(url, { script: work.script, clients, seconds, variables });
      });
      note(clientsName(clients), { perSecond, p99Ms: Number.NaN });
    }
    round.set(work.name, figures);
  }
  return round;
}

/** Not pinned to a core, like PostgreSQL. */
function startInstance(databaseUrl: string, dataDir = "/nonexistent"): Promise<Server> {
  const env = {
    HOST: "127.0.0.1",
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    JWT_SECRET: tokenSettings.key,
    PERSONAL_DATA_KEY: Buffer.alloc(32, 1).toString("base64"),
    LOG_LEVEL: "warn",
    WEBHOOK_PROVIDERS: provider,
    CODE_HOST_WEBHOOK_SECRET: secret,
  };
  return startServer(["bun", main, "serve"], env, () => [], null);
}

/** Skyhook creates its tables. The flights depart in the far future, so that they can be booked. */
async function prepare(url: string, sql: SQL): Promise<void> {
  await (await startInstance(url)).stop();
  const departureMs = Date.UTC(2060, 0, 1);
  await sql.unsafe(`insert into flights (id, flight_number, airline, origin, destination, departure_time,
      arrival_time, cabin_class, seats, seats_available, price_minor, currency, created_at)
    select n, 'SK' || n, 'Skyhook Air', 'LHR', 'JFK', ${departureMs} + n * 60000, ${departureMs} + n * 60000 + 28800000,
      'economy', 300, 300, 49950, 'GBP', 1767225600000 from generate_series(1, ${flights}) as n`);
}

/** Runs the load from one process, with the connections distributed over the servers. */
function load(
  { send, requestsPerSecond }: Work,
  [first, ...others]: readonly [Server, ...Server[]],
  { connections, seconds, warmUp }: Options,
): Promise<LoadResult> {
  return runLoad("skyhook serve", {
    send,
    port: first.port,
    otherPorts: others.map(({ port }) => port),
    serverPid: first.pid,
    connections,
    seconds,
    warmUp,
    requests: warmUp + requestsPerSecond * seconds,
    repeats: false,
  });
}

async function measure(
  work: Work,
  url: string,
  sql: SQL,
  instances: number,
  options: Options,
): Promise<Rate> {
  await prepare(url, sql);
  const servers: [Server, ...Server[]] = [await startInstance(url)];
  try {
    while (servers.length < instances) servers.push(await startInstance(url));
    const result = await load(work, servers, options);
    const [row]: { stored: number }[] = await sql.unsafe(
      `select counted::int as stored from (${work.counted}) as counts (counted)`,
    );
    if (row?.stored !== result.acknowledged) {
      throw new Error(
        `${result.acknowledged} requests were acknowledged, but ${row?.stored} are stored`,
      );
    }
    return rateOf(result);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function measureSqlite(work: Work, options: Options): Promise<LoadResult> {
  return withFolder("postgres", async (folder) => {
    const file = join(folder, "skyhook.db");
    fill(file, [{ table: "flights", rows: flights, stepMs: 0 }]);
    const server = await startInstance(`sqlite:${file}`, folder);
    try {
      return await load(work, [server], options);
    } finally {
      await server.stop();
    }
  });
}

function rateOf({ requestsPerSecond, p99Ms }: LoadResult): Rate {
  return { perSecond: requestsPerSecond, p99Ms };
}

function section(
  { connections, seconds, warmUp }: Options,
  rounds: readonly Round[],
  surroundings: readonly string[],
): string {
  const names = [onSqlite, ...instanceCounts.map(instancesName), ...clientCounts.map(clientsName)];
  const figure = (round: Round, { name: work }: Work, contestant: string): Rate => {
    const rate = round.get(work)?.get(contestant);
    if (rate === undefined) throw new Error(`${contestant} was not measured`);
    return rate;
  };
  const medianOf = (work: Work, contestant: string, key: keyof Rate): number =>
    median(rounds.map((round) => figure(round, work, contestant)[key]));
  const ceiling = (round: Round, work: Work): number =>
    Math.max(...clientCounts.map((count) => figure(round, work, clientsName(count)).perSecond));
  const goals = works.flatMap((work) =>
    instanceCounts.map((count): Goal => ({
      goal: `${work.name} by ${count} ÷ pgbench`,
      ratios: rounds.map(
        (round) => figure(round, work, instancesName(count)).perSecond / ceiling(round, work),
      ),
      ...(work.name === "deliveries" && { target: 0.5 }),
      better: "higher",
    })),
  );
  return [
    `${connections} connections in total, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUp.toLocaleString("en")} requests of warm-up,`,
    "contestants alternate; medians. The rows in the database must match the acknowledged requests. pgbench runs the",
    "prepared statements of one delivery or booking in a transaction, with bodies of the same size, with 8 and with 32",
    "clients; the better result counts. All processes share the cores, so more instances cannot be faster here.",
    "",
    environment(surroundings),
    "",
    table(
      ["contestant", ...works.flatMap(({ name }) => [`${name}/s`, "p99 ms"])],
      names.map((name) => [
        name,
        ...works.flatMap((work) => [
          cells.perSecond(medianOf(work, name, "perSecond")),
          cells.decimals(medianOf(work, name, "p99Ms"), 1),
        ]),
      ]),
    ),
    "",
    goalTable(goals),
  ].join("\n");
}
