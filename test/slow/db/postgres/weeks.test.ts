import { describe, expect, test } from "bun:test";

import { SQL } from "bun";

import { firstPositionAt } from "../../../../src/base/ids.ts";
import { openStorage } from "../../../../src/db/open.ts";
import { Place } from "../../../../src/db/place.ts";
import { write } from "../../../../src/db/statement.ts";
import { eventsByKeys, firstWithHash, insertEvent } from "../../../../src/event/events.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { until } from "../../../support/app.ts";
import { noManyConnections } from "../../../support/databases.ts";
import { failure } from "../../../support/failure.ts";
import { textOf } from "../../../support/plans.ts";
import { eventRow } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

import { limits, sharedDatabase } from "./shared-database.ts";

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

describe.skipIf(skips(noManyConnections))("postgres: weeks", () => {
  test.each([
    ["a week", week],
    ["a generation of keys", generation],
  ])(
    "two instances that receive the same keys when %s begins store each once",
    async (_, first) => {
      await shared.openEmpty().then((storage) => storage.close());
      const storages = await Promise.all([1, 2].map(() => openStorage(schema, shared.url, limits)));
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
      await Promise.all(storages.map((each) => each.close()));
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
      const storage = await shared.openEmpty();
      const atMs = generation * weekMs;
      await using client = new SQL(shared.url, { max: 1 });
      await client.unsafe("begin");
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
      await storage.close();
    },
  );

  test("the key of a deleted event is free, also in an earlier generation", async () => {
    const storage = await shared.openEmpty();
    const insert = async (atMs: number) =>
      (await storage.atomically(write(insertEvent, row(1, atMs), "stop")))[0].changes;
    for (const atMs of [generation * weekMs - 1, generation * weekMs + 1]) {
      expect([await insert(atMs), await insert(atMs + 1)]).toEqual([1, 0]);
      await shared.run("delete from events");
      expect([await insert(atMs + 2), await insert(atMs + 3)]).toEqual([1, 0]);
      await shared.run("delete from events");
    }
    await storage.close();
  });

  test("a partition that cannot be made makes the database unavailable until it can", async () => {
    const storage = await shared.openEmpty();
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
    await storage.close();
  });
});
