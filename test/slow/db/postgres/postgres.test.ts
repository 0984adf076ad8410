import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { SQL } from "bun";
import { getTableColumns, getTableName } from "drizzle-orm";

import { eventById, eventsAfter, newestEventSeq } from "../../../../src/gateway/event.sql.ts";
import { AppError } from "../../../../src/base/errors.ts";
import {
  flightById,
  takeSeats,
  upsertFlight,
} from "../../../../src/booking/flights/flights.sql.ts";
import { beginCopy, endCopy } from "../../../../src/cli/copy/copy.ts";
import {
  countDuplicate,
  eventPages,
  eventsByKeys,
  insertEvent,
} from "../../../../src/gateway/events/events.sql.ts";
import {
  feedAfter,
  insertNotification,
  newestSeq,
  summaryWrites,
} from "../../../../src/gateway/notifications/notifications.sql.ts";
import { recordFailure } from "../../../../src/gateway/destinations/destinations.sql.ts";
import { operatorGateway } from "../../../../src/gateway/destination.ts";
import { insertDelivery } from "../../../../src/gateway/notifications/deliveries.sql.ts";
import { claimDue } from "../../../../src/gateway/notifications/delivery-queue.sql.ts";
import { tableOf } from "../../../../src/db/postgres/tables.ts";
import { schema, tables } from "../../../../src/schema/schema.ts";
import { write } from "../../../../src/db/statement.ts";
import { openCopyTarget, openStorage } from "../../../../src/db/open.ts";
import type { Storage } from "../../../../src/db/storage.ts";
import { usersByIds } from "../../../../src/identity/users/users.sql.ts";
import { storageSuite } from "../../../db/storage-suite.ts";
import { until } from "../../../support/app.ts";
import {
  noManyConnections,
  postgresDatabase,
  type TestDatabase,
  testPoolSize,
} from "../../../support/databases.ts";
import { failure } from "../../../support/failure.ts";
import { deliveryRow, eventRow, flightRow, notificationRow } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

const limits = {
  poolSize: testPoolSize,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  retryMs: 5_000,
};

let shared: TestDatabase;
beforeAll(async () => {
  shared = await postgresDatabase();
}, 60_000);
afterAll(() => shared[Symbol.asyncDispose]());

async function openEmpty(): Promise<Storage> {
  await shared.empty();
  return openStorage(schema, shared.url, limits);
}

storageSuite("postgres", openEmpty, 5);

describe("postgres: schema", () => {
  test("has the columns of the definitions, and compares text byte by byte", async () => {
    const storage = await openEmpty();
    await storage.close();
    const found = await shared.run(
      `select table_name, column_name, data_type, is_nullable, collation_name
       from information_schema.columns where table_schema = current_schema()
       and table_name not in ('migrations', 'event_words') order by table_name, ordinal_position`,
    );
    const declared = Object.values(tables)
      .map(tableOf)
      .toSorted((one, other) => (getTableName(one) < getTableName(other) ? -1 : 1))
      .flatMap((table) =>
        Object.values(getTableColumns(table)).map((column) => ({
          table_name: getTableName(table),
          column_name: column.name,
          data_type: column.getSQLType(),
          is_nullable: column.notNull ? "NO" : "YES",
          collation_name: column.getSQLType() === "text" ? "C" : null,
        })),
      );
    expect(found).toEqual(declared);
  });

  test("a page after an item uses one index, in order", async () => {
    const storage = await openEmpty();
    await storage.close();
    await shared.run("set enable_seqscan = off");
    const plan = await shared.run(
      "explain (costs off) select id from events where provider = 'a' and (created_at, id) < (1, 'a') order by created_at desc, id desc limit 20",
    );
    const lines = plan.map((row) => String(row["QUERY PLAN"]).trim());
    expect(lines[1]).toContain("Index Only Scan Backward using events_of_provider on events");
    expect(lines[2]).toContain("ROW(created_at, id) < ROW(1, 'a'::text)");
  });

  test("NUL, which PostgreSQL cannot store in text, is stored and found as U+FFFD", async () => {
    const storage = await openEmpty();
    const row = eventRow(1, { title: "a\0b", idempotencyKey: "k\0", data: { deep: "\0" } });
    await storage.atomically(write(insertEvent, row));
    const [found] = await storage.all(eventById, { id: row.id });
    expect(found).toMatchObject({ title: "a\u{FFFD}b", data: { deep: "\0" } });
    const [again] = await storage.atomically(write(insertEvent, { ...eventRow(2), ...row }));
    expect(again.changes).toBe(0);
    expect(await storage.all(eventsByKeys, { keys: ["k\0", "\0"] })).toHaveLength(1);
    await storage.close();
  });
});

describe("postgres: a failed start says why in one line, without the password", () => {
  const open = async (url: string) => {
    const error = await failure(openStorage(schema, url, { ...limits, connectTimeoutMs: 1_000 }));
    const { message } = error instanceof Error ? error : new Error("Not an error");
    expect(message).not.toContain("hunter2");
    expect(message).not.toContain("\n");
    return message;
  };
  const at = (change: (url: URL) => void) => {
    const url = new URL(shared.url);
    change(url);
    return url.href;
  };

  test("when no server answers", async () => {
    expect(await open("postgres://sky:hunter2@127.0.0.1:1/skyhook")).toBe(
      "The PostgreSQL server at 127.0.0.1:1 does not answer (Failed to connect): start it, or check host and port in DATABASE_URL",
    );
  });

  test.skipIf(skips(noManyConnections))("when synchronous_commit is off", async () => {
    const url = at(({ searchParams }) => searchParams.set("synchronous_commit", "off"));
    expect(await open(url)).toContain("its synchronous_commit is off");
  });

  test("when the database is newer than the program", async () => {
    await (await openEmpty()).close();
    await shared.run("insert into migrations (name) values ('9999_from_the_future')");
    // PGlite keeps prepared statements across connections.
    await shared.empty();
    expect(await open(shared.url)).toBe(
      'The database is newer than this program (it has "9999_from_the_future"): run the newer skyhook, or restore a backup',
    );
    await shared.run("delete from migrations where name like '9999%'");
    await shared.empty();
  });

  test("when a copy into the database is unfinished; another copy can still open it", async () => {
    await (await openEmpty()).close();
    await shared.renew();
    const begun = await openCopyTarget(schema, shared.url, limits);
    await beginCopy(begun, "it");
    await begun.close();
    await shared.empty();
    expect(await open(shared.url)).toBe(
      "A copy into this database was not finished: run `skyhook copy` again, or empty it",
    );
    await shared.renew();
    const ended = await openCopyTarget(schema, shared.url, limits);
    await endCopy(ended);
    await ended.close();
    await (await openEmpty()).close();
  });

  test.skipIf(skips(noManyConnections))("when the database or role does not exist", async () => {
    const noDatabase = await open(at((url) => (url.pathname = "/skyhook_missing")));
    expect(noDatabase).toContain('has no database "skyhook_missing": create it with createdb');
    const noRole = await open(
      at((url) => {
        url.username = "skyhook_missing";
        url.password = "hunter2";
      }),
    );
    expect(noRole).toContain('rejects the role "skyhook_missing"');
  });
});

describe.skipIf(skips(noManyConnections))("postgres: concurrency", () => {
  async function openTwo(given = limits) {
    await shared.empty();
    const open = () => openStorage(schema, shared.url, given);
    const storages = [await open(), await open()] as const;
    return {
      storages,
      async [Symbol.asyncDispose]() {
        await Promise.all(storages.map((storage) => storage.close()));
      },
    };
  }

  test("instances that start together on an empty database create its schema once", async () => {
    await using database = await postgresDatabase();
    const storages = await Promise.all(
      Array.from({ length: 4 }, () =>
        openStorage(schema, database.url, { ...limits, poolSize: 2 }),
      ),
    );
    expect(await database.run("select name from migrations")).toHaveLength(
      schema.migrations.postgres.length,
    );
    await Promise.all(storages.map((storage) => storage.close()));
  });

  test("the feed waits for a number whose transaction is open, and skips one that was rolled back", async () => {
    await using both = await openTwo();
    const [storage] = both.storages;
    const read = async (seq: number) => {
      const [row] = await storage.all(newestSeq, {});
      const until = row?.seq ?? 0;
      const entries = await storage.all(feedAfter, { seq, until, limit: 10 });
      return entries.map((entry) => entry.title);
    };
    const titles = (...numbers: number[]) => numbers.map((n) => notificationRow(n).title);
    /** The position of a notification. */
    const seqOf = async (n: number) => {
      const rows = await storage.all(feedAfter, { seq: 0, until: 1_000, limit: 10 });
      return rows.find(({ title }) => title === notificationRow(n).title)?.seq ?? 0;
    };
    const insert = (n: number) =>
      storage.atomically(
        write(insertEvent, eventRow(n)),
        write(insertNotification, notificationRow(n)),
      );
    await insert(1);
    await using late = new SQL(shared.url, { max: 1 });
    const insertLate = async (n: number) => {
      const { id, title } = notificationRow(n);
      await late.unsafe("begin");
      await late.unsafe(
        `insert into notifications (id, event_id, created_at, title, text, severity, status, attempt_count)
         values ($1, $2, 1, $3, '', 'info', 'pending', 0)`,
        [id, eventRow(1).id, title],
      );
    };
    await insertLate(2);
    await insert(3);
    expect(await read(0)).toEqual(titles(1));
    await late.unsafe("commit");
    expect(await read(await seqOf(1))).toEqual(titles(2, 3));

    await insertLate(4);
    await insert(5);
    expect(await read(await seqOf(3))).toEqual([]);
    await late.unsafe("rollback");
    expect(await read(await seqOf(3))).toEqual(titles(5));
  });

  test("the stream of events waits for a number whose transaction is open", async () => {
    await using both = await openTwo();
    const [storage] = both.storages;
    const read = async () => {
      const [row] = await storage.all(newestEventSeq, {});
      const range = { seq: 0, until: row?.seq ?? 0, limit: 10 };
      return (await storage.all(eventsAfter, range)).map(({ id }) => id);
    };
    const ids = (...numbers: number[]) => numbers.map((n) => eventRow(n).id);
    await storage.atomically(write(insertEvent, eventRow(1)));
    await using late = new SQL(shared.url, { max: 1 });
    await late.unsafe("begin");
    await late.unsafe(
      `insert into events (id, provider, type, status, idempotency_key, occurred_at, created_at, title, data, body_bytes, duplicates, seq)
       values ($1, 'task_tracker', 'task.completed', 'ignored', 'late', 1, 1, 'Late', '{}', 0, 0, next_event_seq())`,
      [eventRow(2).id],
    );
    await storage.atomically(write(insertEvent, eventRow(3)));
    expect(await read()).toEqual(ids(1));
    await late.unsafe("commit");
    expect(await read()).toEqual(ids(1, 2, 3));
  });

  test("concurrent claims lease each notification once", async () => {
    await using both = await openTwo();
    const [one, other] = both.storages;
    const notes = Array.from({ length: 40 }, (_, n) =>
      write(insertDelivery, deliveryRow(notificationRow(n))),
    );
    await one.atomically(...notes);
    const destinationId = operatorGateway.id;
    const now = new Date(Date.UTC(2026, 10, 21) + 1_000);
    const lease = { destinationId, now, leasedUntil: new Date(now.getTime() + 30_000), limit: 10 };
    const claims = await Promise.all(
      [one, other, one, other].map((storage) => storage.atomically(write(claimDue, lease))),
    );
    const seqs = claims.flatMap(([{ rows }]) => rows.map(({ seq }) => seq));
    expect(new Set(seqs).size).toBe(seqs.length);
    expect(seqs.length).toBe(40);
  });

  test("a claim skips what another instance is claiming, without waiting for it", async () => {
    await using both = await openTwo({ ...limits, statementTimeoutMs: 1_000, retryMs: 0 });
    const [storage] = both.storages;
    const rows = [1, 2].map((n) => write(insertDelivery, deliveryRow(notificationRow(n))));
    await storage.atomically(...rows);
    await using other = new SQL(shared.url, { max: 1 });
    await other.unsafe("begin");
    await other.unsafe("update deliveries set leased_until = 1 where seq = 1");
    const now = new Date(Date.UTC(2026, 10, 21) + 1_000);
    const leasedUntil = new Date(now.getTime() + 30_000);
    const lease = { destinationId: operatorGateway.id, now, leasedUntil, limit: 10 };
    const [claimed] = await storage.atomically(write(claimDue, lease));
    expect(claimed.rows.map(({ seq }) => seq)).toEqual([2]);
    await other.unsafe("rollback");
  });

  test("transactions that lock the same rows in opposite orders all succeed", async () => {
    await using both = await openTwo();
    const [one, other] = both.storages;
    const ids = [eventRow(1).id, eventRow(2).id];
    await one.atomically(write(insertEvent, eventRow(1)), write(insertEvent, eventRow(2)));
    const there = ids.map((id) => write(countDuplicate, { id }));
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([one.atomically(...there), other.atomically(...there.toReversed())]);
    }
    expect(await shared.run("select sum(duplicates)::int as sum from events")).toEqual([
      { sum: 40 },
    ]);
  });

  test("transactions that sell seats of the same flights in opposite orders do not deadlock", async () => {
    await using both = await openTwo({ ...limits, retryMs: 0 });
    const [one, other] = both.storages;
    const flights = [1, 2, 3];
    await one.atomically(...flights.map((number) => write(upsertFlight, flightRow(number))));
    const none = new AppError("no-seats", "No seats are left");
    const sales = flights.map((id) =>
      write(takeSeats, { id, seats: 1, closesAfter: new Date(0) }, none),
    );
    await using holder = new SQL(shared.url, { max: 1 });
    await holder.unsafe("begin");
    // Neither gets past the second flight before both have begun.
    await holder.unsafe("select pg_advisory_xact_lock('flights'::regclass::oid::int4, 2)");
    const sold = Promise.all([one.atomically(...sales), other.atomically(...sales.toReversed())]);
    await until(async () => {
      const waiting = await shared.run(
        "select from pg_locks where locktype = 'advisory' and classid = 'flights'::regclass::oid and not granted",
      );
      return waiting.length === 2;
    });
    await holder.unsafe("rollback");
    await sold;
    const [flight] = await one.all(flightById, { id: 1 });
    expect(flight?.seatsAvailable).toBe(98);
  });

  test.each([
    [
      "sum up deliveries of the same events",
      "notifications",
      (["evt_1", "evt_2", "evt_3"] as const).map((id) => summaryWrites(id)),
      "evt_2",
    ],
    [
      "record failures of the same destinations",
      "destinations",
      (["dst_1", "dst_2", "dst_3"] as const).map((id) => [
        write(recordFailure, { id, openUntil: new Date(0), threshold: 10 }),
      ]),
      "dst_2",
    ],
  ])("transactions that %s in opposite orders do not deadlock", async (_, table, writes, id) => {
    await using both = await openTwo({ ...limits, retryMs: 0 });
    const [one, other] = both.storages;
    await using holder = new SQL(shared.url, { max: 1 });
    await holder.unsafe("begin");
    const held = `'${table}'::regclass::oid`;
    await holder.unsafe(`select pg_advisory_xact_lock(${held}::int4, ${Bun.hash.crc32(id) | 0})`);
    const done = Promise.all([
      one.atomically(...writes.flat()),
      other.atomically(...writes.toReversed().flat()),
    ]);
    await until(async () => {
      const waiting = await shared.run(
        `select from pg_locks where locktype = 'advisory' and classid = ${held} and not granted`,
      );
      return waiting.length === 2;
    });
    await holder.unsafe("rollback");
    await done;
  });

  test("any number of reads that wait for a lock do not delay writes", async () => {
    await using both = await openTwo();
    const [storage] = both.storages;
    await using other = new SQL(shared.url, { max: 1 });
    await other.unsafe("begin");
    await other.unsafe("lock table users in access exclusive mode");
    let waiting = 10;
    const reads = Array.from({ length: waiting }, async () => {
      await storage.all(usersByIds, { ids: ["nobody"] });
      waiting -= 1;
    });
    await storage.atomically(write(insertEvent, eventRow(1)));
    expect(waiting).toBe(10);
    await other.unsafe("rollback");
    await Promise.all(reads);
  });

  test("keeps all acknowledged transactions when connections are terminated, and reconnects [PG-2]", async () => {
    await using both = await openTwo();
    const [storage] = both.storages;
    const acknowledged = new Set<string>();
    let refused = 0;
    let cut = 0;
    for (let round = 0; round < 20; round += 1) {
      const transactions = Array.from({ length: 20 }, async (_, n) => {
        const row = eventRow(round * 20 + n);
        try {
          await storage.atomically(write(insertEvent, row));
          acknowledged.add(row.id);
        } catch (error) {
          expect(error).toMatchObject({ code: "unavailable" });
          refused += 1;
        }
      });
      const killed = await shared.run(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = current_setting('application_name') and pid <> pg_backend_pid() and state <> 'idle'",
      );
      cut += killed.length;
      await Promise.all(transactions);
    }
    const rows = await shared.run("select id from events");
    const stored = new Set(rows.map(({ id }) => String(id)));
    expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
    expect(acknowledged.size + refused).toBe(400);
    expect(await eventPages(storage, {}).count()).toBe(stored.size);
    console.log(`connections terminated: ${cut}, transactions failed: ${refused}`);
  });
});

describe("postgres: a server without disk space", () => {
  test("fails empty transactions too, until a timeout or a successful write [PG-9]", async () => {
    const storage = await openEmpty();
    await storage.atomically();
    await shared.run(
      "create function full_disk() returns trigger language plpgsql as $$ begin raise exception using errcode = '53100'; end $$",
    );
    await shared.run(
      "create trigger full_disk before insert on events execute function full_disk()",
    );
    const insert = () => storage.atomically(write(insertEvent, eventRow(1)));
    try {
      expect(await failure(insert())).toMatchObject({ code: "unavailable" });
      expect(await failure(storage.atomically())).toMatchObject({ code: "unavailable" });
    } finally {
      await shared.run("drop function full_disk cascade");
    }
    await insert();
    await storage.atomically();
    await storage.close();
  });
});

describe.skipIf(skips(noManyConnections))(
  "postgres: a database that accepts no connections",
  () => {
    test("is `unavailable`, for example during a restore, and recovers", async () => {
      const [role] = await shared.run(
        "select rolcreatedb or rolsuper as may from pg_roles where rolname = current_user",
      );
      if (role?.["may"] !== true) {
        console.log("skipped: the role in TEST_POSTGRES_URL may not make a database");
        return;
      }
      const name = `skyhook_closed_${crypto.randomUUID().replaceAll("-", "")}`;
      await shared.run(`create database ${name}`);
      try {
        const url = new URL(shared.url);
        url.pathname = `/${name}`;
        url.searchParams.delete("search_path");
        const storage = await openStorage(schema, url.href, { ...limits, retryMs: 0 });
        await storage.atomically(write(insertEvent, eventRow(1)));
        await shared.run(`alter database ${name} allow_connections false`);
        const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
        await shared.run(cut);
        // The first of each may get a terminated connection, the others fail to connect.
        for (let n = 0; n < 6; n += 1) {
          const written = failure(storage.atomically(write(insertEvent, eventRow(2))));
          const read = failure(storage.all(eventById, { id: eventRow(1).id }));
          expect(await written).toMatchObject({ code: "unavailable" });
          expect(await read).toMatchObject({ code: "unavailable" });
        }
        await shared.run(`alter database ${name} allow_connections true`);
        await storage.atomically(write(insertEvent, eventRow(2)));
        await storage.close();
      } finally {
        await shared.run(`drop database ${name} with (force)`);
      }
    });
  },
);

describe("postgres: a server that stops answering", () => {
  const { id } = eventRow(1);

  /** Opens all connections of the pool, and then stops all answers on them. */
  async function openAndSilence() {
    await shared.empty();
    const proxy = silencer(shared.url);
    const storage = await openStorage(schema, proxy.url, {
      ...limits,
      statementTimeoutMs: 100,
      retryMs: 0,
    });
    await storage.atomically(write(insertEvent, eventRow(1)));
    await Promise.all(Array.from({ length: 9 }, () => storage.all(eventById, { id })));
    proxy.silence();
    return { storage, proxy };
  }

  test("makes reads and writes `unavailable` after a timeout [PG-3]", async () => {
    const { storage, proxy } = await openAndSilence();
    const read = failure(storage.all(eventById, { id }));
    const written = failure(storage.atomically(write(insertEvent, eventRow(2))));
    expect(await read).toMatchObject({ code: "unavailable" });
    expect(await written).toMatchObject({ code: "unavailable" });
    proxy.stop(true);
    await storage.close();
  });

  test("may take the whole connect timeout, even with a short statement timeout", async () => {
    await shared.empty();
    // Longer than the answer timeout for such statements.
    const proxy = silencer(shared.url, 2_500);
    const brief = { ...limits, connectTimeoutMs: 10_000, statementTimeoutMs: 300 };
    await (await openStorage(schema, proxy.url, brief)).close();
    proxy.stop(true);
  }, 30_000);

  test.skipIf(skips(noManyConnections))(
    "is connected to again, since a new server may have its address",
    async () => {
      const { storage, proxy } = await openAndSilence();
      await Promise.all([
        failure(storage.all(eventById, { id })),
        failure(storage.atomically(write(insertEvent, eventRow(2)))),
      ]);
      const reads = Array.from({ length: 9 }, () => storage.all(eventById, { id }));
      expect((await Promise.all(reads)).flat()).toHaveLength(9);
      await storage.atomically(write(insertEvent, eventRow(3)));
      await storage.close();
      proxy.stop(true);
    },
  );
});

test.skipIf(skips(noManyConnections))(
  "postgres: a transaction whose connection breaks during its commit is not repeated",
  async () => {
    await shared.empty();
    const proxy = commitCutter(shared.url);
    const storage = await openStorage(schema, proxy.url, limits);
    const { id } = eventRow(1);
    await storage.atomically(write(insertEvent, eventRow(1)));
    proxy.cutNextCommit();
    expect(await failure(storage.atomically(write(countDuplicate, { id })))).toMatchObject({
      code: "unavailable",
    });
    await storage.close();
    // The server has committed it; only the answer was lost.
    expect(await shared.run("select duplicates from events")).toEqual([{ duplicates: 1 }]);
    proxy.stop();
  },
);

/** A proxy. After `cutNextCommit`, it breaks the connection of the next COMMIT once the server has answered. */
function commitCutter(url: string) {
  const { hostname, port } = new URL(url);
  let isArmed = false;
  const proxy = Bun.listen<{ server: Promise<Bun.Socket>; isCut: boolean }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(client) {
        const server = Bun.connect({
          hostname,
          port: Number(port),
          socket: {
            data: (_, bytes) => void (client.data.isCut ? client.terminate() : client.write(bytes)),
            close: () => void client.end(),
          },
        });
        client.data = { server, isCut: false };
      },
      async data({ data }, bytes) {
        // A simple query ends with a NUL.
        if (isArmed && bytes.includes("commit\0")) data.isCut = true;
        if (data.isCut) isArmed = false;
        const sent = Buffer.from(bytes);
        (await data.server).write(sent);
      },
      close: async ({ data }) => void (await data.server).end(),
    },
  });
  const through = new URL(url);
  through.port = String(proxy.port);
  return {
    url: through.href,
    cutNextCommit: () => void (isArmed = true),
    stop: () => proxy.stop(true),
  };
}

/** A proxy. `silence` drops all data on its open connections, without closing them. */
function silencer(url: string, acceptsAfterMs = 0) {
  const { hostname, port } = new URL(url);
  let newest = { silent: false };
  const proxy = Bun.listen<{ server: Bun.Socket | null; early: Buffer[]; line: typeof newest }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(client) {
        const line = newest;
        client.data = { server: null, early: [], line };
        await Bun.sleep(acceptsAfterMs);
        client.data.server = await Bun.connect({
          hostname,
          port: Number(port),
          socket: {
            data: (_, bytes) => void (line.silent || client.write(bytes)),
            close: () => void (line.silent || client.end()),
          },
        });
        for (const bytes of client.data.early) client.data.server.write(bytes);
      },
      data({ data }, bytes) {
        if (data.line.silent) return;
        if (data.server === null) data.early.push(Buffer.from(bytes));
        else data.server.write(bytes);
      },
      close: ({ data }) => void data.server?.end(),
    },
  });
  const through = new URL(url);
  through.port = String(proxy.port);
  return {
    url: through.href,
    silence() {
      newest.silent = true;
      newest = { silent: false };
    },
    stop: (closesAll: boolean) => proxy.stop(closesAll),
  };
}
