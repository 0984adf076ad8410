import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { openStorage } from "../../src/db/open.ts";
import { write } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { insertEvent, reinterpretEvent } from "../../src/event/events.sql.ts";
import { stateAfter } from "../../src/events/event-search.sql.ts";
import { eventsMatching } from "../../src/events/event-search.ts";
import { indexEvents } from "../../src/events/index-batch.ts";
import { deleteSettledEvents } from "../../src/events/retention/retention.sql.ts";
import { newestQueued, newestUnread, oldestQueued } from "../../src/events/search-index.sql.ts";
import { searchIndex } from "../../src/events/search-index.ts";
import { schema } from "../../src/schema/schema.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { manualClock } from "../support/clock.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";
import { eventRow } from "../support/rows.ts";
import { appPerTest } from "../support/running-app.ts";
import { indexSome, notIndexed } from "../support/search.ts";

const app = appPerTest();

const log = createLog({ level: "silent", format: "json" });

describe("a search", () => {
  test("waits for the events that another instance is indexing", async () => {
    const { storage } = app.services;
    // The other instance commits after the third look. Later events are queued meanwhile.
    let looks = 0;
    const oldest = () => ((looks += 1) <= 3 ? 7 : 8);
    const shared: Storage = {
      ...storage,
      all: (statement, values) => {
        const asked: unknown = statement;
        if (asked === newestUnread) return Promise.resolve([]);
        if (asked === newestQueued) return Promise.resolve(rowsOf({ seq: 7 }));
        if (asked === oldestQueued) return Promise.resolve(rowsOf({ seq: oldest() }));
        return storage.all(statement, values);
      },
    };
    const index = searchIndex(shared, app.clock, log);
    expect(await index.caughtUp(Number.POSITIVE_INFINITY)).toBe(true);
    expect(looks).toBeGreaterThan(3);
  });

  test("does not wait for events that are queued after it began", async () => {
    const { storage } = app.services;
    const add = (number: number) => storage.atomically(write(insertEvent, eventRow(number)));
    for (let number = 0; number < 60; number += 1) await add(number);
    let batches = 0;
    const busy: Storage = {
      ...storage,
      // A busy server: whenever a batch is indexed, another event has been queued.
      async atomically(...writes) {
        const results = await storage.atomically(...writes);
        batches += 1;
        if (batches <= 20) await add(100 + batches);
        return results;
      },
    };
    expect(await searchIndex(busy, app.clock, log).caughtUp(Number.POSITIVE_INFINITY)).toBe(true);
    expect(batches).toBeLessThan(6);
    const found = await storage.all(stateAfter, { count: 59 });
    expect(found).toHaveLength(1);
  });

  test("knows which events are indexed, and waits for none that was deleted", async () => {
    const { storage } = app.services;
    const ids = [1, 2, 3].map((number) => eventRow(number).id);
    for (const number of [1, 2]) {
      await storage.atomically(write(insertEvent, eventRow(number)));
    }
    const index = searchIndex(storage, app.clock, log);
    expect(await index.has(ids, () => false)).toBe(false);
    expect(await index.has(ids.slice(2), () => false)).toBe(true);
    expect(await index.has(ids, () => true)).toBe(true);
    expect(await index.has(ids, () => false)).toBe(true);
    expect(await storage.all(stateAfter, { count: 1 })).toHaveLength(1);
  });

  test("does not wait for ever", async () => {
    const { storage } = app.services;
    const endless: Storage = {
      ...storage,
      all(statement, values) {
        const asked: unknown = statement;
        const isNumber = [newestUnread, newestQueued, oldestQueued].some((each) => each === asked);
        return isNumber ? Promise.resolve(rowsOf({ seq: 7 })) : storage.all(statement, values);
      },
    };
    expect(await searchIndex(endless, app.clock, log).caughtUp(0)).toBe(false);
    expect(await searchIndex(storage, app.clock, log).caughtUp(0)).toBe(true);
  });
});

describe("the follower", () => {
  const clock = manualClock(Date.UTC(2026, 10, 22));
  const folder = temporaryFolder();
  const storages: Storage[] = [];
  const open = async () => {
    const storage = await openStorage(schema, `sqlite:${join(folder, `${storages.length}.db`)}`);
    storages.push(storage);
    return storage;
  };
  afterAll(async () => {
    for (const storage of storages) await storage.close();
    removeFolder(folder);
  });
  const add = (storage: Storage, ...numbers: number[]) =>
    storage.atomically(...numbers.map((number) => write(insertEvent, eventRow(number))));
  const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, n) => from + n);

  test("indexes an event once that is queued before it is read", async () => {
    const storage = await open();
    await add(storage, 1, 2);
    await storage.atomically(write(reinterpretEvent, { ...eventRow(1), title: "changed" }));
    await indexEvents(storage, { unread: 0, toQueue: 0, queued: 1 });
    expect(await searchIndex(storage, clock, log).caughtUp(Infinity)).toBe(true);
    for (const [q, number] of [
      ["changed", 1],
      ["event", 2],
    ] as const) {
      const source = await eventsMatching(storage, { q });
      const window = { order: "newest-first", from: null, offset: 0, limit: 5 } as const;
      expect((await source.read(window)).map(({ id }) => id)).toEqual([eventRow(number).id]);
    }
  });

  test("reads new events whose numbers are those of deleted ones", async () => {
    const storage = await open();
    await add(storage, 1, 5);
    await indexSome(storage, 10);
    await storage.atomically(write(deleteSettledEvents, { ids: [eventRow(5).id] }));
    // The clock has gone back.
    await add(storage, 2);
    await searchIndex(storage, clock, log).caughtUp(Infinity);
    expect(await notIndexed(storage)).toEqual([]);
  });

  test("indexes new events before a backlog, and rests as long however slow the host is", async () => {
    const storage = await open();
    await add(storage, ...numbers(10_200));
    const pauses: number[] = [];
    const slow: Storage = {
      ...storage,
      async atomically(...writes) {
        await Bun.sleep(2);
        return storage.atomically(...writes);
      },
    };
    const watched = {
      ...clock,
      after(delayMs: number, action: () => void) {
        pauses.push(delayMs);
        return clock.after(delayMs, action);
      },
    };
    const index = searchIndex(slow, watched, log);
    index.start();
    const rounds = async (count: number) => {
      while (pauses.length < count) {
        clock.advance(250);
        await Bun.sleep(0);
      }
    };
    await rounds(13);
    // The first batch of 100, then all others are queued, 1,000 at a time.
    expect(pauses.slice(1, 12)).toEqual(numbers(11).map(() => 20));
    await add(storage, 20_000);
    await rounds(pauses.length + 2);
    await index.stop();
    const left = await notIndexed(storage);
    expect(left.includes(eventRow(20_000).id)).toBe(false);
    expect(left.includes(eventRow(10_199).id)).toBe(false);
    expect(left.includes(eventRow(101).id)).toBe(true);
  });
});

/** Rows of any statement. */
function rowsOf<Row>(...rows: object[]): Row[] {
  // Guarantee: only for statements that select these columns.
  return rows as Row[];
}
