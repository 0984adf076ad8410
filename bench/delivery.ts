import { join } from "node:path";

import { administrator } from "./api-requests.ts";
import { delivery as webhook, leastMicros, startSkyhook } from "./contestants.ts";
import { withFolder } from "./folder.ts";
import { cpuMicrosOf, median, programMicros } from "./measure.ts";
import { inSchema, serverVersion } from "./postgres-server.ts";
import { runLoad, type Server, startServer } from "./processes.ts";
import { cells, table } from "./report.ts";
import { inTurns } from "./rounds.ts";
import type { Options, Report, Suite } from "./suite.ts";

/** D1 and D2: what a delivery costs once its event is stored. */
export const delivery: Suite = {
  name: "delivery",
  about: "one delivery, on SQLite (D1) and PostgreSQL (D2)",
  async run(options) {
    const rounds = await inTurns(options.rounds, () => runRound(options));
    return report(options, rounds, `PostgreSQL ${await serverVersion()}`);
  },
};

/** Processor time of a delivery in microseconds, over all threads. */
interface Cost {
  readonly app: number;
  readonly database: number;
}

type Name = "one" | "many" | "pgOne" | "pgMany" | "pgBacklog";
type Round = Readonly<Record<Name, Cost> & { U: number }>;

const manyDestinations = 20;
/** The most deliveries at the same time. */
const concurrency = 64;
const backlogFactor = 10;

const here = (path: string): string => join(import.meta.dir, path);
export const urlOf = ({ port }: Pick<Server, "port">): string => `http://127.0.0.1:${port}`;

/** Timed deliveries, and those that wait beside them, so that the queue does not run empty. */
const timedOf = ({ isTrial }: Options) => (isTrial ? 500 : 5_000);

async function runRound(options: Options): Promise<Round> {
  const countFor = (backlog: number) => options.warmUp + timedOf(options) * 2 * backlog;
  const onSqlite = (destinations: number) =>
    withFolder("delivery", (folder) =>
      skyhookCost(
        folder,
        `sqlite:${join(folder, "skyhook.db")}`,
        destinations,
        countFor(1),
        options,
      ),
    );
  const onPostgres = (destinations: number, backlog = 1) =>
    inSchema((url) =>
      withFolder("delivery", (folder) =>
        skyhookCost(folder, url, destinations, countFor(backlog), options),
      ),
    );
  const note = async (name: string, measuring: Promise<Cost>): Promise<Cost> => {
    const cost = await measuring;
    console.log(`  ${name}: ${cost.app.toFixed(0)} + ${cost.database.toFixed(0)} µs`);
    return cost;
  };
  return {
    U: await leastMicros(options),
    one: await note("SQLite, one", onSqlite(1)),
    many: await note("SQLite, many", onSqlite(manyDestinations)),
    pgOne: await note("PostgreSQL, one", onPostgres(1)),
    pgMany: await note("PostgreSQL, many", onPostgres(manyDestinations)),
    pgBacklog: await note(
      "PostgreSQL, many, long backlog",
      onPostgres(manyDestinations, backlogFactor),
    ),
  };
}

/** On the core of the load. */
export const startReceiver = (): Promise<Server> =>
  startServer(["bun", here("servers/receiver.ts")], {}, 1);

/** Stores deliveries to paused destinations, then resumes these. */
async function skyhookCost(
  folder: string,
  database: string,
  destinations: number,
  deliveries: number,
  options: Options,
): Promise<Cost> {
  const receiver = await startReceiver();
  const server = await startSkyhook(folder, { DATABASE_URL: database });
  try {
    const ids: string[] = [];
    for (let number = 0; number < destinations; number += 1) {
      const id = await createDestination(server, `d${number}`, `${urlOf(receiver)}/d${number}`, {
        maxConcurrent: Math.ceil(concurrency / destinations),
      });
      await call(server, `/v1/destinations/${id}/pause`);
      ids.push(id);
    }
    await sendWebhooks(server, Math.ceil(deliveries / destinations));
    await idle(server);
    const databaseMicros = () => (database.startsWith("sqlite:") ? 0 : programMicros("postgres"));
    await Promise.all(ids.map((id) => call(server, `/v1/destinations/${id}/resume`)));
    return await drained(receiver, () => cpuMicrosOf(server.pid), databaseMicros, options);
  } finally {
    await server.stop();
    await receiver.stop();
  }
}

/** The cost of the timed deliveries, after those of the warm-up. */
async function drained(
  receiver: Server,
  appMicros: () => number,
  databaseMicros: () => number,
  options: Options,
): Promise<Cost> {
  const sample = async (count: number) => {
    const received = await receivedBy(receiver, count);
    return { received, app: appMicros(), database: databaseMicros() };
  };
  const before = await sample(options.warmUp);
  const after = await sample(before.received + timedOf(options));
  const count = after.received - before.received;
  return {
    app: (after.app - before.app) / count,
    database: (after.database - before.database) / count,
  };
}

const patienceMs = 600_000;

/** Waits until the receiver has that many deliveries or more, and returns how many. */
export async function receivedBy(receiver: Server, count: number): Promise<number> {
  const endsMs = performance.now() + patienceMs;
  for (;;) {
    const received = Number(await (await fetch(urlOf(receiver))).text());
    if (received >= count) return received;
    if (performance.now() > endsMs) throw new Error(`${received} of ${count} deliveries`);
    await Bun.sleep(20);
  }
}

/** Sends webhooks as fast as they are acknowledged. */
export async function sendWebhooks(server: Server, count: number): Promise<void> {
  await runLoad("skyhook serve", {
    send: { kind: "deliveries", ...webhook },
    port: server.port,
    serverPid: server.pid,
    connections: 64,
    warmUp: 0,
    seconds: patienceMs / 1_000,
    requests: count,
    repeats: false,
  });
}

/** Waits until the server does nothing: the search index has all events. */
export async function idle({ pid }: Server): Promise<void> {
  const windowMs = 500;
  for (let quiet = 0; quiet < 2;) {
    const before = cpuMicrosOf(pid);
    await Bun.sleep(windowMs);
    quiet = cpuMicrosOf(pid) - before <= windowMs * 30 ? quiet + 1 : 0;
  }
}

/** Returns the id. */
export async function createDestination(
  server: Server,
  name: string,
  url: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const created = await call(server, "/v1/destinations", { name, format: "json", url, ...more });
  const { id }: { id: string } = JSON.parse(created);
  return id;
}

async function call(server: Server, path: string, body: unknown = {}): Promise<string> {
  const response = await fetch(urlOf(server) + path, {
    method: "POST",
    headers: { authorization: await administrator(), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

function report(options: Options, rounds: readonly Round[], version: string): Report {
  const all = (name: Name, cost: (each: Cost) => number) =>
    rounds.map((round) => cost(round[name]));
  const [app, database] = [(cost: Cost) => cost.app, (cost: Cost) => cost.database];
  const row = (title: string, name: Name) => [
    title,
    ...[app, database, (cost: Cost) => cost.app + cost.database].map((cost) =>
      cells.decimals(median(all(name, cost)), 0),
    ),
  ];
  return {
    figures: {
      U: rounds.map(({ U }) => U),
      delivery: all("many", app),
      pgApp: all("pgMany", app),
      pgDatabase: all("pgMany", database),
      pgBacklog: all("pgBacklog", database),
    },
    notes: [version],
    text: [
      `Processor time of a delivery over all threads, in µs: ${timedOf(options).toLocaleString("en")} deliveries after ${options.warmUp.toLocaleString("en")} of warm-up, from a queue that was filled`,
      `before; ${rounds.length} rounds; medians. At most ${concurrency} deliveries at the same time, to one receiver that answers 200 at once. The`,
      "time of the database is that of all its processes. Skyhook leases, expires, signs, retries, records each attempt, and reads event and notification.",
      "",
      table(
        ["delivery", "app", "database", "both"],
        [
          row("skyhook, SQLite, one destination", "one"),
          row(`skyhook, SQLite, ${manyDestinations} destinations`, "many"),
          row("skyhook, PostgreSQL, one destination", "pgOne"),
          row(`skyhook, PostgreSQL, ${manyDestinations} destinations`, "pgMany"),
          row(`the same, ${backlogFactor} times as many waiting`, "pgBacklog"),
        ],
      ),
    ],
  };
}
