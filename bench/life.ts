import { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { join } from "node:path";

import { leastMicros, startSkyhook } from "./contestants.ts";
import {
  createDestination,
  idle,
  receivedBy,
  sendWebhooks,
  startReceiver,
  urlOf,
} from "./delivery.ts";
import { withFolder } from "./folder.ts";
import { indexMicros } from "./indexing.ts";
import { cpuMicrosOf, median, programMicros } from "./measure.ts";
import { inSchema, serverVersion } from "./postgres-server.ts";
import type { Server } from "./processes.ts";
import { cells, table } from "./report.ts";
import { inTurns } from "./rounds.ts";
import type { Options, Report, Suite } from "./suite.ts";

/** E1, W1, X1, R1 and B1: all that a webhook costs, from its arrival until it is deleted. */
export const life: Suite = {
  name: "life",
  about: "a webhook from arrival (E1) over index (X1) and disk (B1) to its deletion (R1)",
  async run(options) {
    const rounds = await inTurns(options.rounds, () => runRound(options));
    return report(options, rounds, `PostgreSQL ${await serverVersion()}`);
  },
};

/** Microseconds of processor time of a webhook, over all threads, and bytes of write-ahead log in PostgreSQL. */
interface Cost {
  readonly app: number;
  readonly database: number;
  readonly wal: number;
}

interface Life {
  /** Received, committed and indexed. */
  readonly received: Cost;
  /** The same, and delivered to one destination. */
  readonly delivered: Cost;
  readonly deleted: Cost;
  readonly eventBytes: number;
  readonly deliveredBytes: number;
}

interface Round {
  readonly U: number;
  readonly sqlite: Life;
  readonly postgres: Life;
  readonly indexMicros: number;
}

const retaining = join(import.meta.dir, "servers/retaining.ts");
/** Beyond EVENT_RETENTION_DAYS, and the seven days that PostgreSQL keeps a week for. */
const shiftDays = 98;
const patienceMs = 300_000;

/** A database, new for each part. */
interface Store {
  readonly url: string;
  readonly folder: string;
  readonly micros: () => number;
  readonly wal: () => Promise<number>;
  readonly bytes: () => Promise<number>;
  readonly events: () => Promise<number>;
}

type WithStore = <Result>(work: (store: Store) => Promise<Result>) => Promise<Result>;

const onSqlite: WithStore = (work) =>
  withFolder("life", (folder) => {
    const file = join(folder, "skyhook.db");
    return work({
      url: `sqlite:${file}`,
      folder,
      micros: () => 0,
      wal: async () => 0,
      bytes: async () => statSync(file).size,
      async events() {
        using database = new Database(file, { readonly: true });
        const query = database.query<{ stored: number }, []>(
          "select count(*) as stored from events",
        );
        return query.get()?.stored ?? 0;
      },
    });
  });

const onPostgres: WithStore = (work) =>
  inSchema((url, sql) =>
    withFolder("life", (folder) => {
      const number = async (query: string): Promise<number> => {
        const [row]: { number: number }[] = await sql.unsafe(query);
        return row?.number ?? 0;
      };
      return work({
        url,
        folder,
        micros: () => programMicros("postgres"),
        wal: () => number("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float as number"),
        bytes: () =>
          number(`select sum(pg_total_relation_size(oid))::float as number from pg_class
            where relkind = 'r' and relnamespace = current_schema::regnamespace`),
        events: () => number("select count(*)::int as number from events"),
      });
    }),
  );

async function runRound(options: Options): Promise<Round> {
  const round = {
    U: await leastMicros(options),
    sqlite: await lifeOn(onSqlite, options),
    postgres: await lifeOn(onPostgres, options),
    indexMicros: await withFolder("life", (folder) =>
      indexMicros(join(folder, "skyhook.db"), options.isTrial ? 1_000 : 20_000),
    ),
  };
  console.log(JSON.stringify(round));
  return round;
}

async function lifeOn(withStore: WithStore, options: Options): Promise<Life> {
  const [received, eventBytes] = await withStore(async (store) => [
    await webhookCost(store, 0, options),
    (await store.bytes()) / (await store.events()),
  ]);
  return withStore(async (store) => {
    const delivered = await webhookCost(store, 1, options);
    const events = await store.events();
    const deliveredBytes = (await store.bytes()) / events;
    const usual = await startCost(store, 0);
    const deleting = await startCost(store, shiftDays);
    if ((await store.events()) > 0) throw new Error("Retention left events");
    const deleted = perEach(deleting, usual, events);
    return { received, delivered, deleted, eventBytes, deliveredBytes };
  });
}

const timedOf = ({ isTrial }: Options) => (isTrial ? 500 : 5_000);

/** The cost of a webhook until it is indexed and delivered. */
async function webhookCost(store: Store, destinations: 0 | 1, options: Options): Promise<Cost> {
  const receiver = await startReceiver();
  const server = await startSkyhook(store.folder, { DATABASE_URL: store.url });
  const [warmUp, timed] = [options.warmUp, timedOf(options)];
  try {
    if (destinations === 1) await createDestination(server, "d", urlOf(receiver));
    const pass = async (count: number, all: number) => {
      await sendWebhooks(server, count);
      await receivedBy(receiver, all * destinations);
      await idle(server);
      return sampleOf(server, store);
    };
    const before = await pass(warmUp, warmUp);
    const after = await pass(timed, warmUp + timed);
    return perEach(after, before, timed);
  } finally {
    await server.stop();
    await receiver.stop();
  }
}

async function sampleOf({ pid }: Server, { micros, wal }: Store): Promise<Cost> {
  return { app: cpuMicrosOf(pid), database: micros(), wal: await wal() };
}

const perEach = (after: Cost, before: Cost, count: number): Cost => ({
  app: (after.app - before.app) / count,
  database: (after.database - before.database) / count,
  wal: (after.wal - before.wal) / count,
});

/** The cost of a start that many days ahead of the clock, until all that has expired is deleted. */
async function startCost(store: Store, days: number): Promise<Cost> {
  const before = { app: 0, database: store.micros(), wal: await store.wal() };
  const server = await startSkyhook(
    store.folder,
    {
      DATABASE_URL: store.url,
      SHIFT_DAYS: String(days),
    },
    retaining,
  );
  try {
    const endsMs = performance.now() + patienceMs;
    while (days > 0 && (await store.events()) > 0 && performance.now() < endsMs) {
      await Bun.sleep(500);
    }
    await idle(server);
    return perEach(await sampleOf(server, store), before, 1);
  } finally {
    await server.stop();
  }
}

function report(options: Options, rounds: readonly Round[], version: string): Report {
  const figures = (figure: (round: Round) => number) => rounds.map(figure);
  const cell = (figure: (round: Round) => number) => cells.decimals(median(figures(figure)), 0);
  const row = (title: string, of: (life: Life, figure: keyof Cost) => number) => [
    title,
    cell(({ sqlite }) => of(sqlite, "app")),
    cell(({ postgres }) => of(postgres, "app")),
    cell(({ postgres }) => of(postgres, "database")),
  ];
  const bytes = (title: string, of: (life: Life) => number) => [
    title,
    cell(({ sqlite }) => of(sqlite)),
    "",
    cell(({ postgres }) => of(postgres)),
  ];
  return {
    figures: {
      U: figures(({ U }) => U),
      indexed: figures(({ sqlite }) => sqlite.received.app),
      delivered: figures(({ sqlite }) => sqlite.delivered.app),
      index: figures((round) => round.indexMicros),
      delete: figures(({ sqlite }) => sqlite.deleted.app),
      disk: figures(({ sqlite }) => sqlite.deliveredBytes),
      pgDelivered: figures(({ postgres }) => postgres.delivered.database),
      pgWal: figures(({ postgres }) => postgres.delivered.wal),
      pgDelete: figures(({ postgres: { deleted } }) => deleted.app + deleted.database),
    },
    notes: [version],
    text: [
      `Processor time of a webhook over all threads, in µs: ${timedOf(options).toLocaleString("en")} webhooks after ${options.warmUp.toLocaleString("en")} of warm-up, from 64 connections; ${rounds.length} rounds; medians.`,
      "Each is counted until the search index has it. A delivery is the difference between one destination and none. What retention deletes",
      "is an event with its notification, its delivery, and the attempt; starts of the server 91 days ahead are compared with starts today. The index is measured in",
      "this process. Bytes are those of the database file, with all indexes, after the server has stopped; WAL is the write-ahead log.",
      "",
      table(
        ["step", "SQLite", "PostgreSQL: app", "database"],
        [
          row("receive, commit and index", ({ received }, figure) => received[figure]),
          ["of which index", cell((round) => round.indexMicros), "", ""],
          row(
            "deliver once",
            ({ received, delivered }, figure) => delivered[figure] - received[figure],
          ),
          row("delete", ({ deleted }, figure) => deleted[figure]),
          row("all", ({ delivered, deleted }, figure) => delivered[figure] + deleted[figure]),
          bytes("bytes on disk: event", ({ eventBytes }) => eventBytes),
          bytes("bytes on disk: delivery", (each) => each.deliveredBytes - each.eventBytes),
          ["bytes of WAL: both", "", "", cell(({ postgres }) => postgres.delivered.wal)],
        ],
      ),
    ],
  };
}

/** E1 alone, on SQLite. */
export const deliveredMicros = async (options: Options): Promise<number> =>
  (await onSqlite((store) => webhookCost(store, 1, options))).app;
