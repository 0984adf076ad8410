import { afterEach, describe, expect, test } from "bun:test";

import { json, startApp, type TestApp, until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase, type TestDatabase } from "../../support/databases.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { never } from "../../support/gateway.ts";
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
    await database.run("select make_week(0)");
    for (let n = 1; n <= 4; n += 1) {
      await database.run(`insert into events (position, tail, provider, type, status, idempotency_key, occurred_at,
          title, data, body_bytes, duplicates)
        values (${n}, 0, 'task_tracker', 'task.completed', 'accepted', 'k${n}', 1, 'silent', '{}', 0, 0)`);
      await database.run(`insert into notifications (position, event, title, text, severity)
        values (reserve_positions(1, array[1]), ${n}, 'silent ${n}', '', 'info')`);
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
    await database.run(`insert into notifications (position, event, title, text, severity)
      values (reserve_positions(1, array[1]), 1, 'sold', '', 'info')`);
    await until(() => {
      there.clock.advance(100);
      return told.at(-1) === 5;
    });
    expect(told).toEqual([8, 7, 6, 5]);
    stop.abort();
    await following;
  });
});
