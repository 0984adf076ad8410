import { describe, expect, test } from "bun:test";

import { positionIn } from "../../src/base/ids.ts";
import { write } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { newestPosition } from "../../src/event/event.sql.ts";
import { insertEvent, reinterpretEvent } from "../../src/event/events.sql.ts";
import { eventsMatching } from "../../src/events/event-search.ts";
import { indexEvents } from "../../src/events/index-batch.ts";
import { deleteSettledEvents, deleteWordsOf } from "../../src/events/retention/retention.sql.ts";
import { searchIndex } from "../../src/events/search-index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { manualClock } from "../support/clock.ts";
import { resources } from "../support/resources.ts";
import { eventRow } from "../support/rows.ts";
import { appPerTest } from "../support/running-app.ts";
import { notIndexed } from "../support/search.ts";

const app = appPerTest();

const log = createLog({ level: "silent", format: "json" });

describe("a search", () => {
  test("waits for the transactions of other instances that began before the newest event", async () => {
    const { storage } = app.services;
    await storage.atomically(write(insertEvent, eventRow(1)), write(insertEvent, eventRow(2)));
    // Another instance commits an earlier event after the third look.
    let looks = 0;
    const shared: Storage = {
      ...storage,
      all: (statement, values) => {
        const asked: unknown = statement;
        if (asked === newestPosition && (looks += 1) <= 3) return Promise.resolve([]);
        return storage.all(statement, values);
      },
    };
    const index = searchIndex(shared, app.clock, log);
    expect(await index.caughtUp(Number.POSITIVE_INFINITY)).toBe(true);
    expect(looks).toBeGreaterThan(3);
    expect(await notIndexed(storage)).toEqual([]);
  });

  test("does not wait for events that are stored after it began", async () => {
    const { storage } = app.services;
    const add = (number: number) => storage.atomically(write(insertEvent, eventRow(number)));
    for (let number = 0; number < 60; number += 1) await add(number);
    let batches = 0;
    const busy: Storage = {
      ...storage,
      // A busy server: whenever a batch is indexed, another event has been stored.
      async atomically(...writes) {
        const results = await storage.atomically(...writes);
        batches += 1;
        if (batches <= 20) await add(100 + batches);
        return results;
      },
    };
    expect(await searchIndex(busy, app.clock, log).caughtUp(Number.POSITIVE_INFINITY)).toBe(true);
    expect(batches).toBeLessThan(6);
  });

  test("knows up to where events are indexed, and waits for none that was deleted", async () => {
    const { storage } = app.services;
    const [first = 0, second = 0, third = 0] = [1, 2, 3].map((n) => positionIn(eventRow(n).id));
    for (const number of [1, 2, 3]) await storage.atomically(write(insertEvent, eventRow(number)));
    const index = searchIndex(storage, app.clock, log);
    expect(await index.has(first, () => false)).toBe(false);
    await storage.atomically(write(deleteSettledEvents, { positions: [third] }));
    expect(await index.has(third, () => true)).toBe(true);
    expect(await index.has(second, () => false)).toBe(true);
  });

  test("does not wait for ever", async () => {
    const { storage } = app.services;
    await storage.atomically(write(insertEvent, eventRow(1)));
    const endless: Storage = {
      ...storage,
      all: (statement, values) =>
        Object.is(statement, newestPosition) ? Promise.resolve([]) : storage.all(statement, values),
    };
    expect(await searchIndex(endless, app.clock, log).caughtUp(0)).toBe(false);
    expect(await searchIndex(storage, app.clock, log).caughtUp()).toBe(true);
    expect(await searchIndex(storage, app.clock, log).caughtUp(0)).toBe(true);
  });
});

describe("the follower", () => {
  const clock = manualClock(Date.UTC(2026, 10, 22));
  const taken = resources();
  const open = () => taken.storage(`sqlite:${taken.newFile()}`);
  const add = (storage: Storage, ...numbers: number[]) =>
    storage.atomically(...numbers.map((number) => write(insertEvent, eventRow(number))));
  const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, n) => from + n);

  test.each([
    ["before it is indexed", 0],
    ["while it is indexed", 1],
    ["after it was indexed", 2],
  ])("finds what an event says since it changed %s", async (_, reads) => {
    const storage = await open();
    await add(storage, 1, 2);
    const change = () =>
      storage.atomically(write(reinterpretEvent, { ...eventRow(1), title: "changed" }));
    let left = reads;
    const changing: Storage = {
      ...storage,
      // Between the read of a batch and its commit.
      async atomically(...writes) {
        if (left === 1) await change();
        left -= 1;
        return storage.atomically(...writes);
      },
    };
    if (reads === 0) await change();
    await indexEvents(changing);
    if (reads === 2) await change();
    expect(await searchIndex(storage, clock, log).caughtUp(Infinity)).toBe(true);
    for (const [q, number] of [
      ["changed", 1],
      ["event", 2],
    ] as const) {
      const source = await eventsMatching(storage, { q });
      const window = { order: "newest-first", from: null, offset: 0, limit: 5 } as const;
      expect((await source.read(window)).map(({ id }) => id)).toEqual([eventRow(number).id]);
    }
    expect(await notIndexed(storage)).toEqual([]);
  });

  test("reads new events at the positions of deleted ones", async () => {
    const storage = await open();
    await add(storage, 1, 5);
    await indexEvents(storage);
    await storage.atomically(
      write(deleteSettledEvents, { positions: [positionIn(eventRow(5).id)] }),
      write(deleteWordsOf, { positions: [positionIn(eventRow(5).id)] }),
    );
    // The clock has gone back.
    await add(storage, 2);
    await searchIndex(storage, clock, log).caughtUp(Infinity);
    expect(await notIndexed(storage)).toEqual([]);
  });

  test("takes a tenth of the time for a backlog, and says how far it is", async () => {
    const storage = await open();
    await add(storage, ...numbers(11_600));
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
    while (pauses.length < 6) {
      clock.advance(250);
      await Bun.sleep(0);
    }
    await index.stop();
    // After the first wait, each pause is nine times as long as its batch.
    expect(Math.min(...pauses.slice(1, 5))).toBeGreaterThanOrEqual(18);
    const left = await notIndexed(storage);
    expect(left.includes(eventRow(499).id)).toBe(false);
    expect(left.includes(eventRow(11_599).id)).toBe(true);
  });
});
