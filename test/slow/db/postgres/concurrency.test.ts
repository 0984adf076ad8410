import { describe, expect, test } from "bun:test";

import { SQL } from "bun";

import { AppError } from "../../../../src/base/errors.ts";
import {
  flightById,
  giveSeatsBack,
  insertFlight,
  takeSeats,
} from "../../../../src/booking/flights/flights.sql.ts";
import { emptyBooking } from "../../../../src/booking/model/booking.ts";
import { insertBooking, releaseHold } from "../../../../src/booking/model/bookings.sql.ts";
import { holdWrites, releaseWrites } from "../../../../src/booking/seats/holding.ts";
import { openStorage } from "../../../../src/db/open.ts";
import { write } from "../../../../src/db/statement.ts";
import type { Storage } from "../../../../src/db/storage.ts";
import { eventsAfter, newestPosition } from "../../../../src/event/event.sql.ts";
import { countDuplicate, insertEvent } from "../../../../src/event/events.sql.ts";
import { eventPages } from "../../../../src/events/event-search.sql.ts";
import { indexEvents } from "../../../../src/events/index-batch.ts";
import { retention } from "../../../../src/events/retention/retention.ts";
import { eventsToIndex } from "../../../../src/events/search-index.sql.ts";
import { endedCaller } from "../../../../src/identity/users/ended-access.ts";
import { notErased, tombstones } from "../../../../src/identity/users/erasures.ts";
import { usersByIds } from "../../../../src/identity/users/users.sql.ts";
import { claimDue } from "../../../../src/outbound/deliveries/delivery-queue.sql.ts";
import { insertDeliveries } from "../../../../src/outbound/model/deliveries.sql.ts";
import { unblockNext } from "../../../../src/outbound/model/delivery-order.sql.ts";
import { recordFailure } from "../../../../src/outbound/model/destinations.sql.ts";
import {
  feedAfter,
  insertNotification,
  newestNotification,
} from "../../../../src/outbound/model/notifications.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { createLog } from "../../../../src/telemetry/log.ts";
import { until } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { noManyConnections, postgresDatabase } from "../../../support/databases.ts";
import { deliveryRow, eventRow, flightRow, notificationRow } from "../../../support/rows.ts";
import { notIndexed } from "../../../support/search.ts";
import { skips } from "../../../support/skips.ts";

import { limits, sharedDatabase } from "./shared-database.ts";

const shared = sharedDatabase();
const silentLog = createLog({ level: "silent", format: "json" });

/** One seat, whatever it costs. */
const seat = {
  seats: 1,
  closesAfter: new Date(0),
  priceMinor: null,
  currency: null,
  revision: null,
};

describe.skipIf(skips(noManyConnections))("postgres: concurrency", () => {
  async function openTwo(given = limits) {
    await shared.empty();
    return [await shared.open(given), await shared.open(given)] as const;
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
    const [storage] = await openTwo();
    const read = async (seq: number) => {
      const [row] = await storage.all(newestNotification, {});
      const until = row?.position ?? 0;
      const entries = await storage.all(feedAfter, { seq, until, limit: 10 });
      return entries.map((entry) => entry.title);
    };
    const titles = (...numbers: number[]) => numbers.map((n) => notificationRow(n).title);
    /** The position of a notification. */
    const seqOf = async (n: number) => {
      const all = { seq: 0, until: Number.MAX_SAFE_INTEGER, limit: 10 };
      const rows = await storage.all(feedAfter, all);
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
      const { position, title } = notificationRow(n);
      await late.unsafe("begin");
      await late.unsafe(
        `insert into notifications (position, event, title, text, severity)
         values (reserve_positions(1, array[$1::bigint]), $2, $3, '', 'info')`,
        [position.atMs, eventRow(1).place.position, title],
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

  test("an erasure waits for what is written in the name of the user, which waits for no other such write", async () => {
    const [writer, eraser] = await openTwo();
    await writer.atomically(write(insertFlight, flightRow(1)));
    await using other = await shared.begun("update flights set seats_available = seats_available");
    const ctx = { actor: { id: "ada", roles: [] } };
    const order: string[] = [];
    const done = (name: string) => () => order.push(name);
    const writing = writer
      .atomically(write(giveSeatsBack, { id: 1, seats: 0, revision: 0 }), notErased(ctx))
      .then(done("written"));
    await shared.locksAwaited(1, "locktype = 'transactionid'");
    await eraser.atomically(notErased(ctx)).then(done("written beside it"));
    const erasing = eraser.atomically(...tombstones(["ada"], new Date())).then(done("erased"));
    await shared.locksAwaited(1, "locktype = 'advisory'");
    await other.unsafe("commit");
    await Promise.all([writing, erasing]);
    expect(order).toEqual(["written beside it", "written", "erased"]);
    expect(await writer.atomically(notErased(ctx)).catch((error: unknown) => error)).toBe(
      endedCaller,
    );
  });

  test("the stream of events waits for a number whose transaction is open", async () => {
    const [storage] = await openTwo();
    const read = async () => {
      const [row] = await storage.all(newestPosition, {});
      const range = { seq: 0, until: row?.position ?? 0, limit: 10 };
      return (await storage.all(eventsAfter, range)).map(({ id }) => id);
    };
    const [one, two, three] = [eventRow(1), eventRow(2), eventRow(3)];
    await storage.atomically(write(insertEvent, one));
    await using late = await shared.begun();
    await late.unsafe(
      `insert into events (position, tail, provider, type, status, idempotency_key, occurred_at, title, data, body_bytes, duplicates)
       values (reserve_positions(1, array[$1::bigint]), $2, 'task_tracker', 'task.completed', 'ignored', 'late', 1, 'Late', '{}', 0, 0)`,
      [two.place.atMs, two.place.tail],
    );
    await storage.atomically(write(insertEvent, three));
    expect(await read()).toEqual([one.id]);
    await late.unsafe("commit");
    expect(await read()).toEqual([one.id, two.id, three.id]);
  });

  test("concurrent claims lease each notification once", async () => {
    const [one, other] = await openTwo();
    const notes = Array.from({ length: 40 }, (_, n) =>
      write(insertDeliveries, { deliveries: [deliveryRow(notificationRow(n))] }),
    );
    await one.atomically(...notes);
    const now = new Date(Date.UTC(2026, 10, 21) + 1_000);
    const lease = { destination: 1, now, leasedUntil: new Date(now.getTime() + 30_000), limit: 10 };
    const claims = await Promise.all(
      [one, other, one, other].map((storage) => storage.atomically(write(claimDue, lease))),
    );
    const claimed = claims.flatMap(([{ rows }]) => rows.map(({ notification }) => notification));
    expect(new Set(claimed).size).toBe(claimed.length);
    expect(claimed.length).toBe(40);
  });

  test("a claim skips what another instance is claiming, without waiting for it", async () => {
    const [storage] = await openTwo({ ...limits, statementTimeoutMs: 1_000, retryMs: 0 });
    const notes = [1, 2].map((n) => notificationRow(n));
    const deliveries = notes.map((note) => deliveryRow(note));
    await storage.atomically(write(insertDeliveries, { deliveries }));
    const [first = 0, second = 0] = notes.map(({ position }) => position.position);
    await using other = await shared.begun(
      `update deliveries set leased_until = 1 where notification = ${first}`,
    );
    const now = new Date(Date.UTC(2026, 10, 21) + 1_000);
    const leasedUntil = new Date(now.getTime() + 30_000);
    const lease = { destination: 1, now, leasedUntil, limit: 10 };
    const [claimed] = await storage.atomically(write(claimDue, lease));
    expect(claimed.rows.map(({ notification }) => notification)).toEqual([second]);
    await other.unsafe("rollback");
  });

  test("transactions that lock the same rows in opposite orders all succeed", async () => {
    const [one, other] = await openTwo();
    const rows = [eventRow(1), eventRow(2)];
    await one.atomically(...rows.map((row) => write(insertEvent, row)));
    const there = rows.map(({ id }) => write(countDuplicate, { id }));
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([one.atomically(...there), other.atomically(...there.toReversed())]);
    }
    expect(await shared.run("select sum(duplicates)::int as sum from events")).toEqual([
      { sum: 40 },
    ]);
  });

  test("transactions that sell seats of the same flights in opposite orders do not deadlock", async () => {
    const [one, other] = await openTwo({ ...limits, retryMs: 0 });
    const flights = [1, 2, 3];
    await one.atomically(...flights.map((number) => write(insertFlight, flightRow(number))));
    const none = new AppError("no-seats", "No seats are left");
    const sales = flights.map((id) => write(takeSeats, { ...seat, id }, none));
    // Neither gets past the second flight before both have begun.
    await using holder = await shared.begun(
      "select pg_advisory_xact_lock('flights'::regclass::oid::int4, 2)",
    );
    const sold = Promise.all([one.atomically(...sales), other.atomically(...sales.toReversed())]);
    await shared.locksAwaited(2, "locktype = 'advisory' and classid = 'flights'::regclass::oid");
    await holder.unsafe("rollback");
    await sold;
    const [flight] = await one.all(flightById, { id: 1 });
    expect(flight?.seatsAvailable).toBe(98);
  });

  test.each([true, false])(
    "a hold and the release of another that share a commit follow each other (the hold first: %p)",
    async (isHoldFirst) => {
      const [storage] = await openTwo();
      await storage.atomically(write(insertFlight, { ...flightRow(1), seats: 4 }));
      const now = new Date(Date.UTC(2026, 10, 21));
      const hold = async (number: number) => {
        const booking = {
          ...emptyBooking,
          id: `bk_${number}` as const,
          reference: `HOLD${number}`,
          userId: "ada",
          flightId: 1,
          status: "held" as const,
          seats: 1,
          totalMinor: 1,
          currency: "USD",
          contactEmail: "ada@example.com",
          paymentMethod: "card" as const,
          createdAt: now,
          updatedAt: now,
          expiresAt: now,
          confirmedAt: null,
        };
        const [taken] = await storage.atomically(
          write(takeSeats, { ...seat, id: 1 }, refused),
          ...holdWrites({ ...booking, bookingId: booking.id, purpose: "booking" }, "/hold"),
          write(insertBooking, booking),
        );
        return taken.rows[0]?.seatsAvailable;
      };
      const refused = new AppError("no-seats", "No seats, or too many holds");
      for (const number of [1, 2, 3]) await hold(number);
      const cancelled = {
        id: "bk_1" as const,
        revision: 0,
        updatedAt: now,
        cancelledAt: now,
        refundMinor: 0,
        refundPercent: 0,
        refundReason: "",
      };
      const release = () =>
        storage.atomically(
          write(releaseHold, cancelled, "stop"),
          ...releaseWrites({ bookingId: "bk_1", purpose: "booking", flightId: 1 }),
        );
      const held = isHoldFirst
        ? (await Promise.all([hold(4), release()]))[0]
        : (await Promise.all([release(), hold(4)]))[1];
      // The fourth is allowed after the release, which leaves a seat more.
      expect(held).toBe(1);
    },
  );

  test.each([
    [
      "settle deliveries of the same order groups",
      "deliveries",
      [1, 2, 3].map((destination) => unblockNext({ destination, orderKey: "a" }, new Date(0))),
      "2 a",
    ],
    [
      "record failures of the same destinations",
      "destinations",
      (["dst_1", "dst_2", "dst_3"] as const).map((id) => [
        write(recordFailure, { id, now: new Date(0), openUntil: new Date(0), threshold: 10 }),
      ]),
      "dst_2",
    ],
  ])("transactions that %s in opposite orders do not deadlock", async (_, table, writes, id) => {
    const [one, other] = await openTwo({ ...limits, retryMs: 0 });
    const held = `'${table}'::regclass::oid`;
    await using holder = await shared.begun(
      `select pg_advisory_xact_lock(${held}::int4, ${Bun.hash.crc32(id) | 0})`,
    );
    const done = Promise.all([
      one.atomically(...writes.flat()),
      other.atomically(...writes.toReversed().flat()),
    ]);
    await shared.locksAwaited(2, `locktype = 'advisory' and classid = ${held}`);
    await holder.unsafe("rollback");
    await done;
  });

  test("any number of reads that wait for a lock do not delay writes", async () => {
    const [storage] = await openTwo();
    await using other = await shared.begun("lock table users in access exclusive mode");
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
    const [storage] = await openTwo();
    const acknowledged = new Set<number>();
    let refused = 0;
    let cut = 0;
    for (let round = 0; round < 20; round += 1) {
      const transactions = Array.from({ length: 20 }, async (_, n) => {
        const row = eventRow(round * 20 + n);
        try {
          await storage.atomically(write(insertEvent, row));
          acknowledged.add(row.place.position);
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
    const rows = await shared.run("select position from events");
    const stored = new Set(rows.map(({ position }) => Number(position)));
    expect([...acknowledged].filter((position) => !stored.has(position))).toEqual([]);
    expect(acknowledged.size + refused).toBe(400);
    expect(await eventPages(storage, {}).count()).toBe(stored.size);
    console.log(`connections terminated: ${cut}, transactions failed: ${refused}`);
  });
});

describe.skipIf(skips(noManyConnections))("postgres: an event that changes", () => {
  const isFound = async (word: string) => {
    const rows = await shared.run(`select from event_words where words @@ '${word}'::tsquery`);
    return rows.length > 0;
  };
  const openWithEvent = async () => {
    await shared.empty();
    const storage = await shared.open();
    await storage.atomically(write(insertEvent, eventRow(1)));
    return storage;
  };
  /** The storage, where `happens` comes between the reading of events to index and their words. */
  const withinIndexing = (storage: Storage, happens: () => Promise<unknown>): Storage => ({
    ...storage,
    async all(statement, values) {
      const rows = await storage.all(statement, values);
      const asked: unknown = statement;
      if (asked === eventsToIndex) await happens();
      return rows;
    },
  });
  const change = (title: string) => `update events set title = '${title}', changes = changes + 1`;

  test.each([
    ["before it is indexed", false],
    ["while it is indexed", true],
  ])("%s is found by its new words", async (_, isIndexing) => {
    const storage = await openWithEvent();
    await using other = await shared.begun(change("changed"));
    if (isIndexing) await indexEvents(storage);
    await other.unsafe("commit");
    expect(await notIndexed(storage)).toHaveLength(1);
    await indexEvents(storage);
    expect([await isFound("changed"), await isFound("event")]).toEqual([true, false]);
  });

  test("is indexed again when it changed after its words were made", async () => {
    const storage = await openWithEvent();
    await indexEvents(withinIndexing(storage, () => shared.run(change("changed"))));
    expect(await shared.run("select words from event_words")).toEqual([]);
    await indexEvents(storage);
    expect(
      await shared.run("select words @@ 'changed'::tsquery as found from event_words"),
    ).toEqual([{ found: true }]);
  });

  test("is not up to date by its former words while the next change commits", async () => {
    const storage = await openWithEvent();
    await indexEvents(storage);
    await shared.run(change("former"));
    await using other = await shared.begun(change("changed"));
    const indexed = indexEvents(storage);
    await shared.locksAwaited(1);
    await other.unsafe("commit");
    await indexed;
    expect(await notIndexed(storage)).toHaveLength(1);
    await indexEvents(storage);
    expect([await isFound("changed"), await isFound("former")]).toEqual([true, false]);
    expect(await notIndexed(storage)).toEqual([]);
  });

  test("keeps its words when two instances index it again", async () => {
    const storage = await openWithEvent();
    await indexEvents(storage);
    await shared.run(change("changed"));
    // Another instance indexes the same change first.
    await indexEvents(withinIndexing(storage, () => indexEvents(storage)));
    expect(await isFound("changed")).toBe(true);
  });

  test("leaves no words after retention has deleted it", async () => {
    const storage = await openWithEvent();
    await indexEvents(storage);
    expect(await isFound("event")).toBe(true);
    const clock = manualClock(Date.UTC(2027, 0, 1));
    const days = { eventDays: 1, bodyDays: 1, auditDays: 1 };
    const task = retention(storage, days, clock, silentLog, () => []);
    task.start();
    await until(async () => {
      clock.advance(60_000);
      return (await shared.run("select from events")).length === 0;
    });
    await task.stop();
    expect(await isFound("event")).toBe(false);
  });
});
