import { join } from "node:path";

import { SQL } from "bun";

import type { DeliveryPlan } from "./deliveries.ts";
import { median } from "./measure.ts";
import { runLoad, type Server, startServer } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import type { Options, Suite } from "./suite.ts";

const here = (path: string): string => join(import.meta.dir, path);

/** Ingest by one instance and by several on one PostgreSQL server, and what the server itself can do. */
export const postgres: Suite = {
  name: "postgres",
  about: "webhook ingest on PostgreSQL by 1, 2 and 4 instances ÷ pgbench with the same statements",
  async run(options) {
    if (Bun.which("pgbench") === null) throw new Error("pgbench is not there: install PostgreSQL");
    const rounds: Round[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      console.log(`Round ${round} of ${options.rounds}`);
      rounds.push(await runRound(options));
    }
    return section(options, rounds);
  },
};

/** Where a schema may be made and dropped. */
const serverUrl = process.env["TEST_POSTGRES_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";

const delivery: DeliveryPlan = {
  provider: "code_host",
  event: "workflow_run.completed",
  secret: "bench-secret-of-code-host",
};
const instanceCounts = [1, 2, 4] as const;
const clientCounts = [8, 32, 64] as const;
const requestsPerSecond = 15_000;
/** Of a delivery's body, roughly: pgbench stores as many. */
const bodyBytes = 3_000;

interface Round {
  /** Deliveries a second, by instances. */
  readonly skyhook: ReadonlyMap<number, Ingest>;
  /** Transactions a second, by clients. */
  readonly pgbench: ReadonlyMap<number, number>;
}
interface Ingest {
  readonly perSecond: number;
  readonly p99Ms: number;
}

async function runRound(options: Options): Promise<Round> {
  const skyhook = new Map<number, Ingest>();
  for (const instances of instanceCounts) {
    const ingest = await inSchema((url, sql) => measure(url, sql, instances, options));
    console.log(`  ${instances} × skyhook: ${cells.perSecond(ingest.perSecond)} deliveries/s`);
    skyhook.set(instances, ingest);
  }
  const pgbench = new Map<number, number>();
  for (const clients of clientCounts) {
    const perSecond = await inSchema((url) => ceiling(url, clients, options));
    console.log(`  pgbench, ${clients} clients: ${cells.perSecond(perSecond)} transactions/s`);
    pgbench.set(clients, perSecond);
  }
  return { skyhook, pgbench };
}

/** Does something in a schema of its own, which is dropped afterwards. */
async function inSchema<Result>(act: (url: string, sql: SQL) => Promise<Result>): Promise<Result> {
  const schema = `skyhook_bench_${process.pid}`;
  const url = new URL(serverUrl);
  url.searchParams.set("search_path", schema);
  await using sql = new SQL(url.href, { max: 1, connection: { client_min_messages: "warning" } });
  await sql.unsafe(`drop schema if exists ${schema} cascade`);
  await sql.unsafe(`create schema ${schema}`);
  try {
    return await act(url.href, sql);
  } finally {
    await sql.unsafe(`drop schema ${schema} cascade`);
  }
}

function startInstance(url: string): Promise<Server> {
  return startServer(["bun", here("../src/main.ts"), "serve"], {
    HOST: "127.0.0.1",
    DATABASE_URL: url,
    DATA_DIR: "/nonexistent",
    JWT_SECRET: "a bench key of thirty-two bytes!",
    PERSONAL_DATA_KEY: Buffer.alloc(32, 1).toString("base64"),
    LOG_LEVEL: "warn",
    WEBHOOK_PROVIDERS: delivery.provider,
    CODE_HOST_WEBHOOK_SECRET: delivery.secret,
  });
}

async function measure(
  url: string,
  sql: SQL,
  instances: number,
  { connections, seconds, warmUpSeconds }: Options,
): Promise<Ingest> {
  const servers: Server[] = [];
  try {
    while (servers.length < instances) servers.push(await startInstance(url));
    const results = await Promise.all(
      servers.map(({ port, pid }) =>
        runLoad("skyhook serve", {
          send: { kind: "deliveries", ...delivery },
          port,
          serverPid: pid,
          connections: Math.ceil(connections / instances),
          seconds,
          warmUpSeconds,
          requests: Math.ceil((requestsPerSecond * (warmUpSeconds + seconds)) / instances),
          repeats: false,
        }),
      ),
    );
    const acknowledged = results.reduce((sum, result) => sum + result.acknowledged, 0);
    const [row]: { stored: number }[] = await sql.unsafe(
      "select count(*)::int as stored from events join notifications on event_id = events.id",
    );
    if (row?.stored !== acknowledged) {
      throw new Error(`${acknowledged} were acknowledged, but ${row?.stored} are stored`);
    }
    return {
      perSecond: results.reduce((sum, result) => sum + result.requestsPerSecond, 0),
      p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function ceiling(url: string, clients: number, { seconds }: Options): Promise<number> {
  // The program makes its tables.
  await (await startInstance(url)).stop();
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const child = Bun.spawn(
    [
      "pgbench",
      "--no-vacuum",
      "--protocol=prepared",
      `--define=bytes=${bodyBytes}`,
      `--client=${clients}`,
      "--jobs=1",
      `--time=${seconds}`,
      `--file=${here("servers/ingest.pgbench.sql")}`,
      `--host=${hostname}`,
      `--port=${port || 5432}`,
      `--username=${username || "postgres"}`,
      pathname.slice(1),
    ],
    {
      env: {
        PATH: process.env["PATH"],
        PGPASSWORD: password,
        PGOPTIONS: `-c search_path=${searchParams.get("search_path")}`,
      },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const perSecond = Number(/tps = ([\d.]+)/.exec(out)?.[1]);
  if (Number.isNaN(perSecond)) throw new Error(`pgbench failed: ${err}`);
  return perSecond;
}

function section(
  { connections, seconds, warmUpSeconds }: Options,
  rounds: readonly Round[],
): string {
  const best = (round: Round): number => Math.max(...round.pgbench.values());
  const ingestOf = (round: Round, instances: number): Ingest => {
    const ingest = round.skyhook.get(instances);
    if (ingest === undefined) throw new Error(`${instances} instances were not measured`);
    return ingest;
  };
  const ratios = (instances: number): number[] =>
    rounds.map((round) => ingestOf(round, instances).perSecond / best(round));
  return [
    `${connections} connections in all, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up;`,
    `medians. Each delivery is verified, stored with its notification and answered after the commit; what was`,
    `acknowledged is counted in the database. pgbench runs the same two inserts in one transaction, prepared,`,
    `with 8, 32 and 64 clients, of which the best counts. Server, instances, load and PostgreSQL share the cores.`,
    "",
    environment([]),
    "",
    table(
      ["what", "per second", "p99 ms"],
      [
        ...instanceCounts.map((instances) => [
          `${instances} × skyhook serve`,
          cells.perSecond(median(rounds.map((round) => ingestOf(round, instances).perSecond))),
          cells.decimals(median(rounds.map((round) => ingestOf(round, instances).p99Ms)), 1),
        ]),
        ...clientCounts.map((clients) => [
          `pgbench, ${clients} clients`,
          cells.perSecond(median(rounds.map((round) => round.pgbench.get(clients) ?? 0))),
          "",
        ]),
      ],
    ),
    "",
    goalTable(
      instanceCounts.map((instances) => ({
        goal: `ingest by ${instances} ÷ pgbench`,
        ratios: ratios(instances),
        target: 0.5,
        better: "higher" as const,
      })),
    ),
  ].join("\n");
}
