import { afterEach, describe, expect, test } from "bun:test";

import { json, startApp, type TestApp, until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase, type TestDatabase } from "../../support/databases.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { never } from "../../support/gateway.ts";
import { deliverTo, keyOf } from "../../support/load.ts";
import { resources } from "../../support/resources.ts";
import { skips } from "../../support/skips.ts";

const taken = resources();

describe.skipIf(skips(noManyConnections))("two instances on one database", () => {
  let database: TestDatabase;
  let apps: [TestApp, TestApp];
  async function start(settings: Record<string, string> = {}): Promise<typeof apps> {
    database = await postgresDatabase();
    const env = { DATABASE_URL: database.url, ...settings };
    apps = [await startApp(env), await startApp(env)];
    return apps;
  }
  afterEach(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await database[Symbol.asyncDispose]();
  });

  /** The events that a client of an instance's feed has received so far. */
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

  test("a delivery to one appears in the feed of the other", async () => {
    const [here, there] = await start();
    const seen = follow(there);
    // Within less than the two seconds of the polling interval.
    let leftMs = 1_900;
    // More than one, because the first may be found by the initial read of the feed.
    for (let n = 1; n <= 4; n += 1) {
      expect((await here.deliverSample("task_tracker", "task.completed")).status).toBe(200);
      await until(() => {
        if (leftMs-- > 0) there.clock.advance(1);
        return seen.length === n;
      });
    }
  });

  test("polling finds notifications whose signal was lost", async () => {
    const [, there] = await start();
    const seen = follow(there);
    for (let n = 1; n <= 4; n += 1) {
      await database.run(`insert into events (id, provider, type, status, idempotency_key, occurred_at,
          created_at, title, data, body_bytes, duplicates, seq)
        values ('evt_${n}', 'task_tracker', 'task.completed', 'accepted', 'k${n}', 1, 1, 'silent', '{}', 0, 0, ${n})`);
      await database.run(`insert into notifications (id, event_id, created_at, title, text, severity, status, attempt_count)
        values ('ntf_${n}', 'evt_${n}', 1, 'silent ${n}', '', 'info', 'delivered', 0)`);
      await until(() => {
        there.clock.advance(100);
        return seen.length === n;
      });
    }
    expect(seen).toEqual(["silent 1", "silent 2", "silent 3", "silent 4"]);
  });

  test("a destination that is made or removed at one is known to the other at once, or after 2 s if the signal is lost", async () => {
    const [gone, kept] = [taken.gateway(), taken.gateway()];
    const [here, there] = await start({ DESTINATIONS_ALLOW_PRIVATE: "true" });
    const create = async (name: string, url: string) => {
      const input = post({ name, format: "json", url });
      const { id } = await json(await here.as("admin", "/v1/destinations", input));
      return String(id);
    };
    /** Whether the other instance sends an event to `gone`, once it has sent it to `kept`. */
    const reachesGone = async () => {
      const [goneBefore, keptBefore] = [gone.received.length, kept.received.length];
      await there.deliverSample("task_tracker", "task.completed");
      await until(() => kept.received.length > keptBefore);
      await until(() => gone.received.length > goneBefore, 100).catch(() => {});
      return gone.received.length > goneBefore;
    };
    // The time of the other instance stands still, so it does not poll.
    const first = await create("gone", gone.url);
    await create("kept", kept.url);
    await until(async () => {
      await there.deliverSample("task_tracker", "task.completed");
      return gone.received.length > 0 && kept.received.length > 0;
    });
    await here.as("admin", `/v1/destinations/${first}`, { method: "DELETE" });
    await until(async () => !(await reachesGone()));
    expect(await reachesGone()).toBe(false);

    await create("second", gone.url);
    await until(reachesGone);
    await database.run("delete from destinations where name = 'second'");
    there.clock.advance(2_000);
    await until(async () => !(await reachesGone()));
    expect(await reachesGone()).toBe(false);
  });

  test("one that starts does not send what another is sending", async () => {
    const gateway = taken.gateway((number) => (number === 1 ? never() : new Response()));
    const { env } = gateway;
    const [here, there] = await start(env);
    await there.stop();
    await here.deliverSample("task_tracker", "task.completed");
    await until(() => gateway.received.length === 1);
    apps = [here, await startApp({ DATABASE_URL: database.url, ...env })];
    await apps[1].deliverSample("task_tracker", "task.completed");
    const ids = () => gateway.received.map(({ headers }) => headers["webhook-id"]);
    await until(() => new Set(ids()).size === 2);
    expect(ids()).toHaveLength(2);
  });

  test("seats sold at one reach subscribers of the flight at the other", async () => {
    const [here, there] = await start();
    const { id } = await addFlight(here, { seats: 9 });
    const stop = new AbortController();
    const told: number[] = [];
    const follow = async () => {
      for await (const { seatsAvailable } of there.services.seats.follow(id, stop.signal)) {
        told.push(seatsAvailable);
      }
    };
    const following = follow();
    for (const left of [8, 7, 6]) {
      await here.as("user", "/v1/api/bookings", post(bookingBody(id)));
      await until(() => {
        there.clock.advance(1);
        return told.at(-1) === left;
      });
    }
    // Simulates an instance that died after the sale, before its signal.
    await database.run("update flights set seats_available = 5");
    await database.run(`insert into notifications (id, event_id, created_at, title, text, severity, status, attempt_count)
      values ('ntf_1', 'evt_1', 1, 'sold', '', 'info', 'delivered', 0)`);
    await until(() => {
      there.clock.advance(100);
      return told.at(-1) === 5;
    });
    expect(told).toEqual([8, 7, 6, 5]);
    stop.abort();
    await following;
  });

  test("the same delivery at both at once is stored once; the others are duplicates", async () => {
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

describe.skipIf(skips(noManyConnections))("two instances under load", () => {
  test("lose nothing acknowledged when one is killed and all connections are terminated; the other keeps serving", async () => {
    const database = await taken.database();
    const gateway = taken.gateway();
    const folder = taken.newFolder();
    const env = {
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: "5",
      ...gateway.env,
    };
    const victim = await taken.start(folder, env);
    const survivor = await taken.start(folder, env);
    const acknowledged = new Set<number>();
    const open = new Set<number>();
    let isOver = false;
    let last = 0;
    const deliver = async (server: typeof victim, number: number) => {
      const status = await deliverTo(server, number);
      expect([0, 200, 503]).toContain(status);
      if (status === 200) acknowledged.add(number);
      else open.add(number);
      return status;
    };
    const work = async (server: typeof victim) => {
      while (!isOver && (await deliver(server, ++last)) !== 0);
    };
    const loading = [victim, survivor].flatMap((server) =>
      Array.from({ length: 8 }, () => work(server)),
    );
    await until(() => acknowledged.size > 150);
    await victim.kill();
    const atKill = acknowledged.size;
    await until(() => acknowledged.size > atKill + 100, 10_000);
    const cut = await database.run(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = current_setting('application_name') and pid <> pg_backend_pid()",
    );
    expect(cut.length).toBeGreaterThan(0);
    const atCut = acknowledged.size;
    await until(() => acknowledged.size > atCut + 100, 10_000);
    isOver = true;
    await Promise.all(loading);
    // Every provider repeats its unacknowledged deliveries.
    for (const number of open) expect(await deliverTo(survivor, number)).toBe(200);

    const rows = await database.run(
      "select e.idempotency_key as key, count(n.id)::int as notes from events e left join notifications n on n.event_id = e.id group by e.id",
    );
    const wanted = Array.from({ length: last }, (_, n) => keyOf(n + 1));
    expect(rows.map(({ key }) => String(key)).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
      wanted.toSorted((a, b) => (a < b ? -1 : 1)),
    );
    expect(rows.filter(({ notes }) => notes !== 1)).toEqual([]);

    // The leases of the killed instance expire after 30 s; expire them now. Rows that the survivor is changing are
    // its own; waiting for them would be a deadlock.
    await database.run(
      "update deliveries set leased_until = 0 where id in (select id from deliveries where leased_until is not null for update skip locked)",
    );
    await deliverTo(survivor, ++last);
    await until(
      () => new Set(gateway.received.map(({ headers }) => headers["webhook-id"])).size === last,
      20_000,
    );
    expect(await survivor.stop()).toBe(0);
  }, 60_000);
});
