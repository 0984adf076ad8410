import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import { AppError } from "../../src/base/errors.ts";
import { positionIn } from "../../src/base/ids.ts";
import { openStorage } from "../../src/db/open.ts";
import { write } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import type { EventReplay } from "../../src/events/event-replay.ts";
import { replayRunner } from "../../src/events/replay-runner.ts";
import { noReplayCounts, type StoredReplay } from "../../src/events/replay.ts";
import type { ReplayFilters } from "../../src/events/replay.ts";
import { insertReplay, replayById } from "../../src/events/replays.sql.ts";
import { deleteSettledEvents } from "../../src/events/retention/retention.sql.ts";
import { type SearchIndex, searchIndex } from "../../src/events/search-index.ts";
import { schema } from "../../src/schema/schema.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { until } from "../support/app.ts";
import { type ManualClock, manualClock } from "../support/clock.ts";
import {
  defaultDialect,
  postgresDatabase,
  type TestDatabase,
  testPoolSize,
} from "../support/databases.ts";
import { eventRow } from "../support/rows.ts";

let database: TestDatabase | null = null;
let storage: Storage;
let clock: ManualClock;
beforeEach(async () => {
  if (defaultDialect === "postgres") database = await postgresDatabase();
  storage = await openStorage(schema, database?.url ?? "sqlite::memory:", limits);
  clock = manualClock();
});
afterEach(async () => {
  await storage.close();
  await database?.[Symbol.asyncDispose]();
  database = null;
});

const limits = {
  poolSize: testPoolSize,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  retryMs: 2_000,
};
const log = createLog({ level: "silent", format: "json" });
const id = "rpl_1";

/** Replays four stored events to the end. Returns the finished replay. */
async function replayed(
  prepare: EventReplay["prepare"],
  filters: Partial<ReplayFilters> = {},
  index: Pick<SearchIndex, "caughtUp"> = { caughtUp: () => Promise.resolve(true) },
) {
  const now = new Date(clock.now());
  const replay: StoredReplay = {
    ...noReplayCounts,
    id,
    createdAt: now,
    actor: "operator",
    status: "running",
    filters: {
      from: null,
      to: "2027-01-01T00:00:00.000Z",
      provider: null,
      type: null,
      status: null,
      delivery: null,
      ...filters,
    },
    ratePerSecond: 1_000,
    total: 4,
    updatedAt: now,
    lastError: null,
    positionAt: null,
    positionId: null,
    leasedBy: null,
    leasedUntil: null,
  };
  await storage.atomically(
    ...[1, 2, 3, 4].map((number) => write(insertEvent, eventRow(number))),
    write(insertReplay, replay),
  );
  const replaying = { prepare };
  const outbox = { committed: () => {} };
  const runner = replayRunner({ storage, outbox, index, replaying, clock, log });
  await runner.start();
  try {
    await until(async () => {
      clock.advance(100);
      const [found] = await storage.all(replayById, { id });
      return found?.status === "finished";
    });
  } finally {
    await runner.stop();
  }
  const [found] = await storage.all(replayById, { id });
  return found;
}

describe("a bulk replay", () => {
  test("waits for the search index, so that it skips no event", async () => {
    const following = searchIndex(storage, clock, log);
    let looks = 0;
    const index = {
      // As in a copy of the database: the index is not built yet.
      caughtUp: () => ((looks += 1) < 3 ? Promise.resolve(false) : following.caughtUp()),
    };
    const silent: EventReplay["prepare"] = (event) =>
      Promise.resolve({ event, notifying: [], outcome: "silent", isRepeated: false });
    expect(await replayed(silent, { q: "event" }, index)).toMatchObject({ silent: 4 });
    expect(looks).toBe(3);
  });

  test("counts an event that retention deletes before its turn", async () => {
    const done = await replayed(async (event) => {
      // After all four were read, and while the first two are replayed.
      if (event.id === eventRow(1).id) {
        await storage.atomically(
          write(deleteSettledEvents, { positions: [positionIn(eventRow(3).id)] }),
        );
      }
      if (event.id === eventRow(2).id) {
        await storage.atomically(
          write(deleteSettledEvents, { positions: [positionIn(eventRow(2).id)] }),
        );
      }
      return { event, notifying: [], outcome: "silent", isRepeated: false };
    });
    expect(done).toMatchObject({ silent: 2, deleted: 2, failed: 0, lastError: null });
  });

  test("replays each event once after an outage of the database", async () => {
    const prepared: string[] = [];
    let outages = 2;
    const done = await replayed((event) => {
      if (event.id === eventRow(3).id && (outages -= 1) >= 0) {
        throw new AppError("unavailable", "The database is unavailable");
      }
      prepared.push(event.id);
      return Promise.resolve({ event, notifying: [], outcome: "silent", isRepeated: false });
    });
    expect(prepared).toEqual([1, 2, 3, 4].map((number) => eventRow(number).id));
    expect(done).toMatchObject({ silent: 4, failed: 0 });
  });
});
