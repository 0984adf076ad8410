import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { copyTables } from "../../../../src/cli/host/copy-tables.ts";
import { openStorage } from "../../../../src/db/open.ts";
import { write } from "../../../../src/db/statement.ts";
import type { Storage } from "../../../../src/db/storage.ts";
import { insertEvent } from "../../../../src/event/events.sql.ts";
import { insertDestination } from "../../../../src/outbound/model/destinations.sql.ts";
import {
  insertFailures,
  insertNotification,
} from "../../../../src/outbound/model/notifications.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { json, startApp } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { postgresDatabase, type TestDatabase, testPoolSize } from "../../../support/databases.ts";
import { failure } from "../../../support/failure.ts";
import { addFlight, bookingBody, post } from "../../../support/flights.ts";
import { removeFolder, runSkyhook, temporaryFolder } from "../../../support/program.ts";
import {
  destinationNumber,
  destinationRow,
  eventRow,
  notificationRow,
} from "../../../support/rows.ts";

const limits = {
  poolSize: testPoolSize,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  retryMs: 1_000,
};
const folder = temporaryFolder();
const file = join(folder, "before.db");
let server: TestDatabase;
beforeAll(async () => {
  server = await postgresDatabase();
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  removeFolder(folder);
});

const quiet = () => {};

async function withStorages(
  urls: readonly string[],
  act: (...storages: Storage[]) => Promise<void>,
): Promise<void> {
  await server.renew();
  const storages = await Promise.all(urls.map((url) => openStorage(schema, url, limits)));
  try {
    await act(...storages);
  } finally {
    await Promise.all(storages.map((storage) => storage.close()));
  }
}

/** Asks an app for what a client of the one before would. */
const bookOnce = (app: Awaited<ReturnType<typeof startApp>>) =>
  app.as("user", "/v1/api/bookings", post(bookingBody(1), { "idempotency-key": "once" }));

describe("skyhook copy", () => {
  test("moves everything to PostgreSQL: cursors, keys, seats and feed positions stay valid", async () => {
    const clock = manualClock();
    const before = await startApp({ DATABASE_URL: `sqlite:${file}` }, clock);
    await addFlight(before);
    const first = await json(await bookOnce(before));
    for (let n = 0; n < 5; n += 1) {
      clock.advance(1);
      await before.deliverSample("task_tracker", "task.completed");
      await before.fetch("/webhooks/task_tracker", post({}));
    }
    const page = await json(await before.as("operator", "/v1/events?limit=2"));
    const { nextCursor } = Object(page["pagination"]);
    const next = await json(await before.as("operator", `/v1/events?limit=2&cursor=${nextCursor}`));
    const newest = await before.services.feed.newestSeq();
    await before.stop();

    await server.renew();
    const { out, err, code } = await runSkyhook(
      ["copy", "--from", `sqlite:${file}`, "--to", server.url],
      { cwd: folder, env: { DATABASE_POOL_SIZE: String(testPoolSize) } },
    );
    expect([err, code]).toEqual(["", 0]);
    expect(out).toMatch(/^events +6 +[0-9a-f]{64}$/m);
    expect(out).toMatch(/^rejections +5 +[0-9a-f]{64}$/m);

    await server.renew();
    const after = await startApp({ DATABASE_URL: server.url }, clock);
    expect(
      await json(await after.as("operator", `/v1/events?limit=2&cursor=${nextCursor}`)),
    ).toEqual(next);
    const again = await bookOnce(after);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await json(again))["bookingId"]).toBe(first["bookingId"]);
    expect(await json(await after.fetch("/v1/api/flights/1"))).toMatchObject({ seatsAvailable: 9 });
    // Back to the time of the newest.
    clock.jump(-5_000);
    await after.deliverSample("task_tracker", "task.completed");
    expect(await after.services.feed.newestSeq()).toBe(newest + 1);
    const { id } = await addFlight(after, { flightNumber: "SK200" });
    expect(id).toBe(2);
    await after.stop();
  });

  test("and back again: each row is equal, odd ones too; a number that is gone is not given again", async () => {
    await server.empty();
    const back = join(folder, "back.db");
    await withStorages([server.url, `sqlite:${back}`], async (from, to) => {
      const body = Buffer.from([0, 255, 10]);
      const data = { z: 1, a: "\0", nothing: null };
      const row = eventRow(1, { body, bodyHash: body, data, headers: null });
      const { position: notification } = row.place;
      const last = notificationRow(2, { event: row.place }).position;
      const attempt = { notification, destination: 1, durationMs: 1 };
      await from.atomically(
        write(insertEvent, row),
        write(insertNotification, notificationRow(1)),
        write(insertNotification, notificationRow(2, { position: last, event: row.place })),
        ...[1, 1, 2].map((ms) =>
          write(insertFailures, {
            attempts: [{ ...attempt, startedAt: new Date(ms), responseStatus: null, error: "no" }],
          }),
        ),
      );
      await server.run("delete from notifications where position <> event");
      const there = await copyTables(from, to, quiet);
      expect(there.find(({ name }) => name === "notifications")?.rows).toBe(1);
      expect(await copyTables(to, from, quiet)).toEqual(there);
      const next = eventRow(0);
      await from.atomically(write(insertEvent, next));
      expect(next.place.position).toBeGreaterThan(last.position);
    });
  });

  test("neither creates nor changes the source", async () => {
    const run = (from: string) =>
      runSkyhook(["copy", "--from", from, "--to", `sqlite:${join(folder, "never.db")}`], {
        cwd: folder,
      });
    const missing = join(folder, "missing.db");
    const ofMissing = await run(`sqlite:${missing}`);
    expect([ofMissing.err, ofMissing.code]).toEqual([
      `skyhook: The database ${missing} does not exist: check --from\n`,
      1,
    ]);
    const older = join(folder, "older.db");
    using client = new Database(older);
    client.run("create table migrations (name text not null primary key) strict");
    const ofOlder = await run(`sqlite:${older}`);
    expect(ofOlder.err).toContain(`${older} needs the migrations 0.1.0`);
    expect(client.query("select name from sqlite_schema").values()).toHaveLength(2);
    expect(["missing.db", "never.db"].map((name) => existsSync(join(folder, name)))).toEqual([
      false,
      false,
    ]);
  });

  test("gives no number a second time where the other one is in use already", async () => {
    await server.empty();
    const old = join(folder, "old.db");
    await withStorages([`sqlite:${old}`, server.url], async (from, to) => {
      const [one, two, three] = [1, 1, 1].map((event) => notificationRow(1, { event }));
      if (!one || !two || !three) throw new Error("There are three");
      const [first, second] = [destinationRow(1), destinationRow(2)];
      await from.atomically(write(insertNotification, one), write(insertDestination, first));
      await copyTables(from, to, quiet);
      await to.atomically(write(insertNotification, two), write(insertDestination, second));
      expect(await destinationNumber(to, second.id)).toBe(2);
      expect(await failure(copyTables(from, to, quiet))).toBeInstanceOf(Error);
      await to.atomically(write(insertNotification, three));
      expect([two, three].map(({ position }) => position.position - one.position.position)).toEqual(
        [1, 2],
      );
    });
  });

  test("takes as many events at a time as fit into memory, and at least one", async () => {
    await server.empty();
    const large = join(folder, "large.db");
    await withStorages([`sqlite:${large}`, server.url], async (from, to) => {
      const sizes = [16, 16, 1, 30, 40, 2, 2].map((megabytes) => megabytes * 2 ** 20);
      await from.atomically(
        ...sizes.map((bodyBytes, n) => write(insertEvent, eventRow(n, { bodyBytes }))),
      );
      const steps: string[] = [];
      const copied = await copyTables(from, to, (what, rows) => steps.push(`${what} ${rows}`));
      expect(steps.filter((step) => step.startsWith("copying events"))).toEqual(
        [2, 4, 5, 7].map((rows) => `copying events ${rows}`),
      );
      expect(copied.find(({ name }) => name === "events")?.rows).toBe(7);
    });
  });

  test("goes on where it was broken off, and says when the two differ", async () => {
    await server.empty();
    const source = join(folder, "long.db");
    await withStorages([`sqlite:${source}`, server.url], async (from, to) => {
      await from.atomically(
        ...Array.from({ length: 120 }, (_, n) => write(insertEvent, eventRow(n))),
      );
      const stop = new Error("Broken off");
      const broken = copyTables(from, to, (_, rows) => {
        if (rows === 100) throw stop;
      });
      expect(await failure(broken)).toBe(stop);
      const steps: string[] = [];
      const copied = await copyTables(from, to, (what, rows) => steps.push(`${what} ${rows}`));
      expect(steps).toContain("copying events 20");
      expect(steps).not.toContain("copying events 50");
      expect(copied.find(({ name }) => name === "events")?.rows).toBe(120);

      await server.run(
        "update events set title = 'changed' where idempotency_key = 'task_tracker:7'",
      );
      expect(await failure(copyTables(from, to, quiet))).toMatchObject({
        message: expect.stringContaining("The databases differ in events"),
      });
    });
  });
});
