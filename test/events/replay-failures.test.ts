import { expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { replayRunner } from "../../src/events/replay-runner.ts";
import { maxReplayFailures, noReplayCounts } from "../../src/events/replay.ts";
import { deleteReplayFailures, insertReplay } from "../../src/events/replays.sql.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { json, until } from "../support/app.ts";
import { post } from "../support/flights.ts";
import { listed } from "../support/operator.ts";
import { eventRow } from "../support/rows.ts";
import { appPerTest } from "../support/running-app.ts";

const app = appPerTest();

const id = "rpl_1";
const read = async (replay = id) => json(await app.as("operator", `/v1/replays/${replay}`));

/** Replays four events, of which the second and the third fail, after `failed` others. */
async function replayed(failed: number): Promise<Record<string, unknown>> {
  const { clock, services } = app;
  const { storage } = services;
  // The runner of the app has nothing to do afterwards: until it looks again, after 5 s, ours takes what there is.
  const none = await json(
    await app.as("operator", "/v1/replays", post({ from: "2020-01-01T00:00:00Z" })),
  );
  await until(async () => (await read(String(none["id"])))["status"] === "finished");
  const at = new Date(clock.now());
  const rows = [1, 2, 3, 4].map((number) => eventRow(number));
  await storage.atomically(...rows.map((row) => write(insertEvent, row)));
  const filters = { from: null, provider: null, type: null, status: null, delivery: null };
  const stored = {
    ...noReplayCounts,
    id,
    createdAt: at,
    updatedAt: at,
    actor: "operator",
    status: "running",
    filters: { ...filters, to: at.toISOString() },
    ratePerSecond: 1_000,
    total: 4,
    failed,
    lastError: null,
    positionAt: null,
    positionId: null,
    leasedBy: null,
    leasedUntil: null,
  } as const;
  await storage.atomically(write(insertReplay, stored));
  const failing = rows.slice(1, 3).map((row) => row.id);
  const runner = replayRunner({
    storage,
    outbox: { committed: () => {} },
    index: { caughtUp: () => Promise.resolve(true) },
    replaying: {
      prepare(event) {
        if (failing.includes(event.id)) return Promise.reject(new Error("Too deep"));
        return Promise.resolve({ event, notifying: [], outcome: "silent", isRepeated: false });
      },
    },
    clock,
    log: createLog({ level: "silent", format: "json" }),
  });
  await runner.start();
  await until(async () => {
    clock.advance(1);
    return (await read())["status"] === "finished";
  });
  await runner.stop();
  return read();
}

test("names each event that failed, the last first, and replays the others", async () => {
  const third = eventRow(3).id;
  expect(await replayed(0)).toMatchObject({
    silent: 2,
    failed: 2,
    lastError: `${third}: Error: Too deep`,
  });
  const path = `/v1/replays/${id}/failures`;
  expect(await listed(app, path)).toEqual([
    { id: third, createdAt: expect.any(String), error: "Error: Too deep" },
    { id: eventRow(2).id, createdAt: expect.any(String), error: "Error: Too deep" },
  ]);
  const first = await json(await app.as("operator", `${path}?limit=1`));
  const { nextCursor } = Object(first["pagination"]);
  expect(await listed(app, `${path}?limit=1&cursor=${String(nextCursor)}`)).toMatchObject([
    { id: eventRow(2).id },
  ]);
});

test("keeps a limited number of failed events, and counts all", async () => {
  expect(await replayed(maxReplayFailures - 1)).toMatchObject({ failed: maxReplayFailures + 1 });
  expect(await listed(app, `/v1/replays/${id}/failures`)).toMatchObject([{ id: eventRow(2).id }]);
});

test("deletes failed events after the retention of events, and keeps the counts", async () => {
  await replayed(0);
  const failures = async () => listed(app, `/v1/replays/${id}/failures`);
  const dayMs = 86_400_000;
  const { storage } = app.services;
  const prune = (days: number) =>
    storage.atomically(
      write(deleteReplayFailures, { until: new Date(app.clock.now() - days * dayMs), limit: 1 }),
    );
  app.clock.advance(10 * dayMs);
  await prune(11);
  expect(await failures()).toHaveLength(2);
  await prune(9);
  expect(await failures()).toHaveLength(1);

  app.clock.advance(81 * dayMs);
  await until(async () => {
    // Retention pauses for an hour after so long a step.
    app.clock.advance(60_000);
    return (await failures()).length === 0;
  });
  expect(await read()).toMatchObject({ failed: 2 });
});
