import { describe, expect, test } from "bun:test";

import { SQL } from "bun";

import { firstPositionAt } from "../../../../src/base/ids.ts";
import { checkWeeks } from "../../../../src/cli/host/checks/weeks.ts";
import { copyTables } from "../../../../src/cli/host/copy-tables.ts";
import { openStorage } from "../../../../src/db/open.ts";
import { Place } from "../../../../src/db/place.ts";
import { write } from "../../../../src/db/statement.ts";
import type { Storage } from "../../../../src/db/storage.ts";
import { eventsByKeys, firstWithHash, insertEvent } from "../../../../src/event/events.sql.ts";
import { indexEvents } from "../../../../src/events/index-batch.ts";
import { walkOf } from "../../../../src/events/retention/delete-events.ts";
import { deletingWeeks } from "../../../../src/events/retention/delete-weeks.ts";
import { readWeeks } from "../../../../src/events/retention/weeks.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { createLog } from "../../../../src/telemetry/log.ts";
import { startApp, until } from "../../../support/app.ts";
import { noManyConnections } from "../../../support/databases.ts";
import { valueOf } from "../../../support/exposition.ts";
import { failure } from "../../../support/failure.ts";
import { textOf } from "../../../support/plans.ts";
import { type EventRow, eventRow, notificationRow, sentWrites } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

import { sharedDatabase } from "./shared-database.ts";

const shared = sharedDatabase();
const weekMs = 7 * 86_400_000;
/** The week that begins on 26 November 2026. */
const week = Date.UTC(2026, 10, 26) / weekMs;
/** A generation of keys has 13 weeks. */
const generation = Math.ceil(week / 13) * 13;

const row = (number: number, atMs: number) => eventRow(number, { place: new Place(atMs, number) });
const partitions = async (parent: string) =>
  (
    await shared.run(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = '${parent}'::regclass order by 1`,
    )
  ).map(({ name }) => name);

/** Opens the database, without events and partitions. */
async function opened(): Promise<Storage> {
  await shared.empty();
  const storage = await shared.open();
  for (const parent of ["events", "event_words", "event_keys"]) {
    for (const name of await partitions(parent)) await shared.run(`drop table ${String(name)}`);
  }
  return storage;
}

describe.skipIf(skips(noManyConnections))("postgres: weeks", () => {
  test.each([
    ["a week", week],
    ["a generation of keys", generation],
  ])(
    "two instances that receive the same keys when %s begins store each once",
    async (_, first) => {
      await opened();
      const storages = [await shared.open(), await shared.open()];
      const keys = Array.from({ length: 300 }, (_, number) => number);
      const hash = (number: number) => Buffer.from(String(number).padStart(16, "0"));
      // A clock of one instance is ahead: its first event crosses the boundary while the other stores before it.
      const stored = await Promise.all(
        keys.flatMap((number) =>
          storages.map(async (storage, instance) => {
            const atMs = first * weekMs - 150 + number + instance * 20;
            await Bun.sleep(number / 2);
            const bodyHash = number % 2 === 0 ? hash(number) : null;
            const event = eventRow(number, { place: new Place(atMs, number), bodyHash });
            const [{ changes }] = await storage.atomically(write(insertEvent, event, "stop"));
            return changes;
          }),
        ),
      );
      expect(stored.reduce((sum, changes) => sum + changes, 0)).toBe(keys.length);
      const sides = await shared.run(
        `select position < ${firstPositionAt(first * weekMs)} as is_before, count(*)::int as events from events group by 1 order by 1`,
      );
      expect(sides.map(({ is_before }) => is_before)).toEqual([false, true]);
      expect(sides.reduce((sum, { events }) => sum + Number(events), 0)).toBe(keys.length);
      // All are found, on both sides.
      const [storage] = storages;
      const found = await storage?.all(eventsByKeys, {
        keys: keys.map((number) => eventRow(number).idempotencyKey),
      });
      expect(found).toHaveLength(keys.length);
      expect(
        await storage?.all(firstWithHash, { provider: "task_tracker", bodyHash: hash(2) }),
      ).toHaveLength(1);
    },
  );

  test.each([
    ["in the generation before", "commit", -2, 0, 0],
    ["in the generation before", "rollback", -2, 0, 1],
    ["in both generations", "commit", -2, 5, 0],
    ["in both generations", "rollback", -2, 5, 1],
  ])(
    "the first event of a generation waits for open transactions %s (%s)",
    async (_, end, from, to, changes) => {
      const storage = await opened();
      // Who makes a week lets others wait too.
      await shared.run(
        `select make_week(week) from generate_series(${generation - 1}, ${generation}) as week`,
      );
      const atMs = generation * weekMs;
      await using client = await shared.begun();
      const times = [atMs + from, ...(to === 0 ? [] : [atMs + to])];
      const [{ first }] = await client.unsafe("select reserve_positions(2, $1) as first", [times]);
      const event = row(1, atMs);
      event.place.assign(Number(first));
      await client.unsafe(...(await textOf(client, insertEvent, event)));
      const others = [1, 2].map((number) =>
        storage.atomically(write(insertEvent, row(number, atMs + 9), "stop")),
      );
      await until(async () => {
        const waiting = await shared.run(
          "select from pg_stat_activity where application_name = current_setting('application_name') and wait_event = 'advisory'",
        );
        return waiting.length > 0;
      });
      await client.unsafe(end);
      const results = await Promise.all(others);
      expect(results.map(([result]) => result.changes)).toEqual([changes, 1]);
    },
  );

  test("the key of a deleted event is free, also in an earlier generation", async () => {
    const storage = await opened();
    const insert = async (atMs: number) =>
      (await storage.atomically(write(insertEvent, row(1, atMs), "stop")))[0].changes;
    for (const atMs of [generation * weekMs - 1, generation * weekMs + 1]) {
      expect([await insert(atMs), await insert(atMs + 1)]).toEqual([1, 0]);
      await shared.run("delete from events");
      expect([await insert(atMs + 2), await insert(atMs + 3)]).toEqual([1, 0]);
      await shared.run("delete from events");
    }
  });

  test("a copy makes the weeks of its events, and takes their keys", async () => {
    const source = await openStorage(schema, "sqlite::memory:");
    const times = [0, 40, 200].map((weeks) => (week + weeks) * weekMs);
    for (const [number, atMs] of times.entries()) {
      await source.atomically(write(insertEvent, row(number, atMs)));
    }
    const target = await opened();
    const copied = await copyTables(source, target, () => {});
    expect(copied.find(({ name }) => name === "events")?.rows).toBe(times.length);
    for (const number of times.keys()) {
      const [{ changes }] = await target.atomically(
        write(insertEvent, row(number, times[2] ?? 0), "stop"),
      );
      expect(changes).toBe(0);
    }
    await source.close();
  });

  test("a partition that cannot be made makes the database unavailable until it can", async () => {
    const storage = await opened();
    const insert = (number: number, atMs: number) =>
      storage.atomically(write(insertEvent, row(number, atMs)));
    const next = (week + 40) * weekMs;
    await insert(1, next - 1);
    const name = `events_${new Date(next).toISOString().slice(0, 10).replaceAll("-", "")}`;
    await shared.run(`create table ${name} ()`);
    for (const number of [2, 3]) {
      const error = await failure(insert(number, next));
      expect(error).toMatchObject({ code: "unavailable" });
      expect(Bun.inspect(error)).toContain(`cannot create the partition ${name} of events`);
    }
    await shared.run(`drop table ${name}`);
    await insert(2, next);
    expect(await shared.run("select tail::int from events order by 1")).toEqual([
      { tail: 1 },
      { tail: 2 },
    ]);
    expect(await partitions("events")).toContain(name);
  });

  describe("retention", () => {
    const log = createLog({ level: "silent", format: "json" });
    const now = (week + 20) * weekMs;
    const expired = new Date((week + 1) * weekMs);
    /** Stores events of the week, and a newer one. */
    async function stored(): Promise<Storage> {
      const storage = await opened();
      const at = (number: number, fields = {}) =>
        eventRow(number, { place: new Place(week * weekMs + number, number), ...fields });
      const [delivered, pending, holder, ignored] = [at(1), at(2), at(3), at(5)];
      const item = at(4, { bodyOf: holder.place, body: null, item: 2 });
      const rows = [delivered, pending, holder, item, ignored];
      const note =
        ({ place }: EventRow, status: "delivered" | "pending") =>
        () => {
          const notification = notificationRow(0, { position: place, event: place });
          return sentWrites(notification, { status });
        };
      await storage.atomically(
        ...rows.map((each) => write(insertEvent, each)),
        note(delivered, "delivered"),
        note(pending, "pending"),
        note(holder, "delivered"),
        note(item, "pending"),
      );
      await storage.atomically(write(insertEvent, row(6, now)));
      await indexEvents(storage);
      return storage;
    }
    const left = async (table: string, column: string) =>
      (
        await shared.run(
          `select e.tail::int as tail from ${table} t join events e on e.position = t.${column} order by 1`,
        )
      ).map(({ tail }) => tail);
    const deleting = (storage: Storage) =>
      deletingWeeks(
        storage,
        walkOf(storage, () => false),
        log,
        () => [],
      );

    test("keeps what is undelivered and bodies that others need, and drops the week once they are delivered", async () => {
      const storage = await stored();
      const deleteEvents = deleting(storage);
      await deleteEvents(expired, now);
      expect(await left("events", "position")).toEqual([2, 3, 4, 6]);
      expect(await left("event_words", "rowid")).toEqual([2, 3, 4, 6]);
      expect(await shared.run("select from event_words")).toHaveLength(4);
      expect(await left("notifications", "event")).toEqual([2, 4]);
      expect(await left("deliveries", "event")).toEqual([2, 4]);
      expect(await shared.run("select count(*)::int as count from deliveries")).toEqual([
        { count: 2 },
      ]);
      expect(await partitions("events")).toContain("events_20261126");
      // A key is free with its event.
      const [again] = await storage.atomically(write(insertEvent, row(1, now), "stop"));
      expect(again.changes).toBe(1);
      expect(await readWeeks(storage, 90)).toMatchObject({
        oldest: new Date(week * weekMs),
        last: { week: new Date(week * weekMs), at: new Date(now), kept: 3 },
        nextAt: new Date((week + 2) * weekMs + 90 * 86_400_000),
      });
      await shared.run("update deliveries set status = 'delivered', due_at = null");
      await deleteEvents(expired, now);
      expect(await left("events", "position")).toEqual([1, 6]);
      expect(await partitions("events")).not.toContain("events_20261126");
      expect(await shared.run("select from deliveries")).toEqual([]);
    });

    test("gives up while a transaction reads the week, and webhooks are stored meanwhile", async () => {
      const storage = await stored();
      const deleteEvents = deleting(storage);
      await using reader = await shared.begun("select from events_20261126");
      const [changes] = await Promise.all([
        Promise.all(
          Array.from({ length: 20 }, async (_, index) => {
            const [stored] = await storage.atomically(
              write(insertEvent, row(100 + index, now + index)),
            );
            return stored.changes;
          }),
        ),
        deleteEvents(expired, now),
      ]);
      expect(changes).toEqual(changes.map(() => 1));
      expect(await left("events", "position")).toEqual(expect.arrayContaining([1, 2, 3, 4, 5]));
      await reader.unsafe("commit");
      await deleteEvents(expired, now);
      expect(await left("events", "position")).not.toContain(1);
    });

    test("keeps all if too many events must be kept once it has its lock", async () => {
      await stored();
      const sweep = "sweep_week(integer, integer, bigint)";
      await shared.run(`alter function ${sweep} set lock_timeout = '10s'`);
      await using sweeper = new SQL(shared.url, { max: 1 });
      await using client = await shared.begun("update events set duplicates = 1 where tail = 5");
      const first = firstPositionAt(week * weekMs);
      await client.unsafe(`insert into notifications (position, event, title, text, severity)
        select ${first} + 9999, position, '', '', 'info' from events where tail = 5`);
      const sweeping = sweeper
        .unsafe(`select kept, swept from sweep_week(${week}, 4, 0)`)
        .then((found: unknown) => found);
      await until(async () => {
        const waiting = await shared.run(
          "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%sweep_week%'",
        );
        return waiting.length > 0;
      });
      await client.unsafe("commit");
      expect(await sweeping).toEqual([{ kept: 5, swept: false }]);
      expect(await left("events", "position")).toEqual([1, 2, 3, 4, 5, 6]);
      await shared.run(`alter function ${sweep} set lock_timeout = '100ms'`);
    });

    test("deletes one by one where too many events must be kept", async () => {
      const storage = await stored();
      const first = firstPositionAt(week * weekMs);
      await shared.run(
        `insert into notifications (position, event, title, text, severity)
         select ${first} + 1000000 + n, ${first} + 1000000 + n, '', '', 'info' from generate_series(1, 1001) as n`,
      );
      await deleting(storage)(expired, now);
      expect(await left("events", "position")).toEqual([2, 3, 4, 6]);
      expect(await readWeeks(storage, 90)).toMatchObject({ last: null });
    });

    test("drops a generation of keys with its last week, and makes the weeks to come", async () => {
      const storage = await opened();
      const atMs = generation * weekMs;
      await storage.atomically(
        write(insertEvent, row(1, atMs - 1)),
        write(insertEvent, row(2, atMs)),
      );
      const names = [generation - 1, generation].map(
        (each) => `event_keys_${Math.floor(each / 13)}`,
      );
      expect(await partitions("event_keys")).toEqual(expect.arrayContaining(names));
      await deleting(storage)(new Date(atMs + 1), atMs + 90 * 86_400_000);
      expect(await partitions("event_keys")).not.toContain(names[0]);
      expect(await partitions("event_keys")).toContain(names[1]);
      expect(await left("events", "position")).toEqual([2]);
      // If another one is lost, it is made again.
      await shared.run(`drop table ${names[1]}`);
      const [again] = await storage.atomically(write(insertEvent, row(3, atMs + 1), "stop"));
      expect(again.changes).toBe(1);
      const ahead = await shared.run("select max(week)::int as week from event_weeks() as week");
      expect(ahead).toEqual([{ week: Math.floor((atMs + 104 * 86_400_000) / weekMs) }]);
    });
  });

  test("doctor and metrics say which weeks exist and what is due", async () => {
    const storage = await opened();
    const today = Date.now();
    const of = (atMs: number) => storage.atomically(write(insertEvent, row(1, atMs), "stop"));
    expect(await checkWeeks(storage, { eventRetentionDays: 90 })).toEqual([]);
    await of(today - 80 * 86_400_000);
    const [found] = await checkWeeks(storage, { eventRetentionDays: 90 });
    expect(found).toMatchObject({ level: "good", about: "retention" });
    expect(found?.detail).toMatch(
      /^\d+ weeks? of events, the oldest from 20[\d-]+; none deleted yet; the next is due on 20/,
    );
    const [late] = await checkWeeks(storage, { eventRetentionDays: 7 });
    expect(late).toMatchObject({
      level: "odd",
      detail: expect.stringContaining("the next was due on"),
    });
    const app = await startApp({ DATABASE_URL: shared.url });
    try {
      const text = await (await app.fetch("/metrics")).text();
      expect(valueOf(text, "skyhook_event_weeks")).toBeGreaterThan(0);
      expect(valueOf(text, "skyhook_event_weeks_oldest_timestamp_seconds")).toBeGreaterThan(1e9);
      expect(text).not.toMatch(/^skyhook_retention_last_week_timestamp_seconds /m);
    } finally {
      await app.stop();
    }
  });
});
