import { describe, expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { newestQueued, oldestQueued, stateAfter } from "../../src/events/event-search.sql.ts";
import { searchIndex } from "../../src/events/search-index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { eventRow } from "../support/rows.ts";
import { appPerTest } from "../support/running-app.ts";

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
      all: () => Promise.resolve(rowsOf({ seq: 7 })),
    };
    expect(await searchIndex(endless, app.clock, log).caughtUp(0)).toBe(false);
    expect(await searchIndex(storage, app.clock, log).caughtUp(0)).toBe(true);
  });
});

/** Rows of any statement. */
function rowsOf<Row>(...rows: object[]): Row[] {
  // Guarantee: only for statements that select these columns.
  return rows as Row[];
}
