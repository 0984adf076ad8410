import { afterEach, describe, expect, test } from "bun:test";

import { json, startApp, type TestApp, until } from "./support/app.ts";
import { noManyConnections, postgresDatabase, type TestDatabase } from "./support/databases.ts";
import { addFlight, bookingBody, post } from "./support/flights.ts";

if (noManyConnections !== null) console.log(`skipped: ${noManyConnections}`);
describe.skipIf(noManyConnections !== null)("two instances on one database", () => {
  let database: TestDatabase;
  let apps: [TestApp, TestApp];
  async function start(): Promise<typeof apps> {
    database = await postgresDatabase();
    const env = { DATABASE_URL: database.url };
    apps = [await startApp(env), await startApp(env)];
    return apps;
  }
  afterEach(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await database[Symbol.asyncDispose]();
  });

  /** What a follower of an instance's feed has seen so far. */
  function follow(app: TestApp): string[] {
    const seen: string[] = [];
    const read = async () => {
      for await (const { title } of app.services.feed.follow(0, new AbortController().signal)) {
        seen.push(title);
      }
    };
    void read();
    return seen;
  }

  test("a delivery to one is heard by followers of the other", async () => {
    const [here, there] = await start();
    const seen = follow(there);
    expect((await here.deliverSample("task_tracker", "task.completed")).status).toBe(200);
    // The clock of the other stands still but for the moment in which its followers are woken.
    await until(() => {
      there.clock.advance(20);
      return seen.length === 1;
    });
  });

  test("what nobody was told of is found by looking", async () => {
    const [, there] = await start();
    const seen = follow(there);
    await database.run(`insert into events (id, provider, type, status, idempotency_key, occurred_at,
        created_at, title, data, body_bytes, duplicates)
      values ('evt_1', 'task_tracker', 'task.completed', 'accepted', 'k', 1, 1, 'silent', '{}', 0, 0)`);
    await database.run(`insert into notifications (id, event_id, created_at, title, text, severity, status, attempt_count)
      values ('ntf_1', 'evt_1', 1, 'silent', '', 'info', 'delivered', 0)`);
    await until(async () => {
      there.clock.advance(2_000);
      await Bun.sleep(5);
      return seen.length === 1;
    });
    expect(seen).toEqual(["silent"]);
  });

  test("the same delivery at both at once is stored once and is a duplicate for the rest", async () => {
    const [here, there] = await start();
    const body = JSON.stringify({ event_name: "item:completed", event_data: { id: "1" } });
    const headers = { "x-tasktracker-delivery-id": "same" };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? here : there).deliver("task_tracker", body, { headers }),
      ),
    );
    const said = await Promise.all(answers.map(json));
    expect(said.filter(({ status }) => status === "duplicate")).toHaveLength(9);
    expect(new Set(said.map(({ id }) => id)).size).toBe(1);
  });

  test("one key at both at once makes one booking, and the last seat is sold once", async () => {
    const [here, there] = await start();
    const { id: flightId } = await addFlight(here, { seats: 3 });
    const book = (app: TestApp, key: string | null) =>
      app.as(
        "user",
        "/v1/api/bookings",
        post(bookingBody(flightId), key === null ? {} : { "idempotency-key": key }),
      );
    const keyed = await Promise.all([here, there, here, there].map((app) => book(app, "k1")));
    const made = keyed.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    expect(keyed.every(({ status }) => status === 201 || status === 409)).toBe(true);
    const ids = await Promise.all(made.map(json));
    expect(new Set(ids.map(({ bookingId }) => bookingId)).size).toBe(1);

    const rush = await Promise.all(
      Array.from({ length: 8 }, (_, n) => book(n % 2 === 0 ? here : there, null)),
    );
    expect(rush.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(rush.filter(({ status }) => status === 409)).toHaveLength(6);
  });
});
