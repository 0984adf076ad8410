import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { write } from "../../../src/db/statement.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { claimDue } from "../../../src/outbound/deliveries/delivery-queue.sql.ts";
import { operatorGateway } from "../../../src/outbound/model/destination.ts";
import { json, sample, signed, type TestApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { readFeed } from "../../support/feed.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";
import { itemsOf, listed, timelineOf } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { destinationNumber, eventRow, notificationRow, sentWrites } from "../../support/rows.ts";

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const year = 365 * day;

const taken = resources();
const start = taken.app;

const deliver = (app: TestApp) => app.deliverSample("task_tracker", "task.completed");

const statusOfAll = async (app: TestApp) =>
  (await listed(app, "/v1/notifications?limit=100")).map(({ status }) => String(status));

/** Waits until there is one notification, with that status. */
const untilStatus = (app: TestApp, status: string) =>
  until(async () => (await statusOfAll(app)).join() === status);

/** Advances time until the gateway has received it. Fails when that takes as long as the clock jump. */
async function soonDelivered(app: TestApp, hasArrived: () => boolean): Promise<void> {
  const startMs = app.clock.now();
  await until(() => {
    if (!hasArrived()) app.clock.advance(100);
    return hasArrived();
  });
  await untilStatus(app, "delivered");
  expect(app.clock.now() - startMs).toBeLessThan(hour);
}

const jumps = [
  ["two hours back", -2 * hour],
  ["ten years back", -10 * year],
  ["two hours ahead", 2 * hour],
  ["ten years ahead", 10 * year],
] as const;

describe.each(jumps)("when the clock jumps %s", (_, jump) => {
  test("a blocked address is unblocked within a minute, as Retry-After says [CLOCK-1]", async () => {
    const app = await start();
    for (let count = 0; count < 20; count += 1) {
      await app.deliver("task_tracker", "{}", { secret: "wrong" });
    }
    expect((await deliver(app)).status).toBe(429);
    app.clock.jump(jump);
    const answer = await deliver(app);
    expect([200, 429]).toContain(answer.status);
    expect(Number(answer.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    app.clock.advance(60 * second);
    expect((await deliver(app)).status).toBe(200);
  });

  test("retries are not delayed [CLOCK-2]", async () => {
    const gateway = taken.gateway(
      (number) => new Response(null, { status: number === 1 ? 500 : 200 }),
    );
    const app = await start(gateway.env);
    await deliver(app);
    await untilStatus(app, "retrying");
    app.clock.jump(jump);
    await soonDelivered(app, () => gateway.received.length === 2);
    expect(new Set(gateway.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("notifications leased by a dead process are sent [CLOCK-3]", async () => {
    const gateway = taken.gateway(() => new Response());
    const app = await start(gateway.env);
    const now = new Date(app.clock.now());
    // Simulates another process that leases the notification and then dies.
    const { storage } = app.services;
    const destination = await destinationNumber(storage, operatorGateway.id);
    const lease = {
      destination,
      now,
      leasedUntil: new Date(now.getTime() + 30 * second),
      limit: 16,
    };
    const event = eventRow(1, { createdAt: now });
    const place = { position: event.place, event: event.place };
    const results = await storage.atomically(
      write(insertEvent, event),
      ...sentWrites(notificationRow(1, place), { destination }),
      write(claimDue, lease),
    );
    expect(results.at(-1)?.changes).toBe(1);
    app.clock.jump(jump);
    await soonDelivered(app, () => gateway.received.length === 1);
  });

  test("the outcome of an attempt in progress is stored and readable [CLOCK-5]", async () => {
    const answering = Promise.withResolvers<Response>();
    const gateway = taken.gateway(() => answering.promise);
    const app = await start(gateway.env);
    const { id } = await json(await deliver(app));
    await until(() => gateway.received.length === 1);
    app.clock.jump(jump);
    answering.resolve(new Response());
    await untilStatus(app, "delivered");
    const [{ attempts } = {}] = await timelineOf(app, id);
    const [attempt] = itemsOf(attempts);
    expect(attempt).toMatchObject({ delivered: true });
    expect(Number(attempt?.["durationMs"])).toBeGreaterThanOrEqual(0);
  });

  test("old tokens are not valid for longer, and new ones work [CLOCK-6]", async () => {
    const app = await start();
    const token = await app.services.tokens.mint({ id: "op", roles: ["operator"] }, 3_600);
    const ask = async () => {
      const headers = { authorization: `Bearer ${token}` };
      return (await app.fetch("/v1/events", { headers })).status;
    };
    expect(await ask()).toBe(200);
    app.clock.jump(jump);
    expect(await ask()).toBe(jump > 0 ? 401 : 200);
    expect((await app.as("operator", "/v1/events")).status).toBe(200);
  });

  test("lists and the feed still return every item once, the feed in commit order [CLOCK-8]", async () => {
    const app = await start();
    const ids: unknown[] = [];
    for (const by of [0, jump, 0, -jump, 0]) {
      app.clock.jump(by);
      ids.push((await json(await deliver(app)))["id"]);
    }
    const forward = await walk(app, "/v1/events?limit=2");
    expect(forward.toSorted()).toEqual(ids.map(String).toSorted());
    const backward = await walk(app, "/v1/events?limit=2&direction=backward", "prevCursor");
    expect(backward.toSorted()).toEqual(ids.map(String).toSorted());
    const stream = await app.as("operator", "/v1/feed", { headers: { "last-event-id": "0" } });
    const feed = readFeed(stream);
    for (const id of ids) expect((await feed.next()).data).toMatchObject({ eventId: id });
    await feed.close();
  });

  test("the age of waiting notifications is never negative", async () => {
    const gateway = taken.gateway(() => new Response(null, { status: 500 }));
    const app = await start(gateway.env);
    await deliver(app);
    await untilStatus(app, "retrying");
    app.clock.jump(jump);
    const metrics = await (await app.fetch("/metrics")).text();
    const age = /^skyhook_outbox_oldest_seconds (\S+)$/m.exec(metrics)?.[1];
    expect(Number(age)).toBeGreaterThanOrEqual(0);
  });
});

/** Reads the ids of a whole list, page by page. */
async function walk(app: TestApp, path: string, name = "nextCursor"): Promise<string[]> {
  const ids: string[] = [];
  let cursor = "";
  do {
    const page = await json(await app.as("operator", `${path}${cursor}`));
    ids.push(...itemsOf(page["data"]).map(({ id }) => String(id)));
    const [pagination = {}] = itemsOf([page["pagination"]]);
    const next = pagination[name];
    cursor = typeof next === "string" ? `&cursor=${next}` : "";
  } while (cursor !== "");
  return ids;
}

describe("a clock that was wrong", () => {
  test("in an earlier run does not delay waiting notifications after a restart [CLOCK-4]", async () => {
    const file = { DATABASE_URL: `sqlite:${join(taken.newFolder(), "skyhook.db")}` };
    const failing = taken.gateway(() => new Response(null, { status: 500 }));
    const ahead = manualClock(manualClock().now() + 10 * year);
    const wrong = await start({ ...failing.env, ...file }, ahead);
    await deliver(wrong);
    await untilStatus(wrong, "retrying");
    await wrong.stop();

    const gateway = taken.gateway(() => new Response());
    const right = await start({ ...gateway.env, ...file });
    await untilStatus(right, "delivered");
    expect(gateway.received).toHaveLength(1);
  });

  test("rejects deliveries with a signed timestamp only until it is corrected [CLOCK-7]", async () => {
    const app = await start();
    const sender = manualClock();
    const { body } = sample("payment_processor", "payment_intent.succeeded", sender);
    const send = async () => {
      const init = signed("payment_processor", JSON.stringify(body), sender);
      return (await app.fetch("/webhooks/payment_processor", init)).status;
    };
    for (const jump of [hour, -2 * hour]) {
      app.clock.jump(jump);
      expect(await send()).toBe(401);
    }
    app.clock.jump(hour);
    expect(await send()).toBe(200);
  });
});

describe("an idempotency key", () => {
  const book = (app: TestApp, id: number) =>
    app.as("user", "/v1/api/bookings", post(bookingBody(id), { "idempotency-key": "k" }));

  test("is kept when the clock is set back, and the booking is made once [CLOCK-9]", async () => {
    const app = await start();
    const { id } = await addFlight(app);
    const first = await json(await book(app, id));
    app.clock.jump(-year);
    app.clock.advance(2 * 60 * second);
    const again = await book(app, id);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await json(again)).toEqual(first);
    expect(await seatsLeft(app, id)).toBe(9);
  });

  test("survives a clock that jumps two days forward and is corrected [CLOCK-10]", async () => {
    const app = await start();
    const { id } = await addFlight(app);
    const first = await json(await book(app, id));
    app.clock.jump(2 * day);
    app.clock.advance(60 * second);
    await app.services.storage.atomically();
    app.clock.jump(-2 * day);
    const again = await book(app, id);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await json(again)).toEqual(first);
  });
});

describe("retention", () => {
  const bodyOf = async (app: TestApp, id: unknown) =>
    (await json(await app.as("operator", `/v1/events/${String(id)}`)))["body"];

  test("deletes nothing for an hour after the clock jumped forward, then deletes expired data [CLOCK-11]", async () => {
    const app = await start();
    const { id } = await json(await deliver(app));
    app.clock.jump(year);
    for (let minutes = 0; minutes < 60; minutes += 1) {
      app.clock.advance(60 * second);
      await app.services.storage.atomically();
    }
    expect((await app.as("operator", `/v1/events/${String(id)}`)).status).toBe(200);
    expect(await bodyOf(app, id)).toBeString();
    app.clock.advance(60 * second);
    await until(async () => (await app.as("operator", `/v1/events/${String(id)}`)).status === 404);
  });

  test("deletes nothing when the clock is corrected within the hour [CLOCK-12]", async () => {
    const app = await start();
    const { id } = await json(await deliver(app));
    app.clock.jump(year);
    app.clock.advance(60 * second);
    app.clock.jump(-year);
    for (let minutes = 0; minutes < 90; minutes += 1) {
      app.clock.advance(60 * second);
      await app.services.storage.atomically();
    }
    expect(await bodyOf(app, id)).toBeString();
  });

  test("keeps what comes after the clock was set back until it has caught up, and then deletes it [CLOCK-13]", async () => {
    const app = await start();
    app.clock.jump(year);
    await deliver(app);
    app.clock.advance(40 * day);
    await until(async () => {
      app.clock.advance(60 * second);
      const [newest] = await listed(app, "/v1/events");
      return (await bodyOf(app, newest?.["id"])) === null;
    });
    app.clock.jump(-year);
    const { id } = await json(await deliver(app));
    app.clock.advance(31 * day);
    for (let minute = 0; minute < 120; minute += 1) app.clock.advance(60 * second);
    expect(await bodyOf(app, id)).toBeString();
    app.clock.advance(year);
    await until(async () => {
      app.clock.advance(60 * second);
      return (await bodyOf(app, id)) === null;
    });
  });
});
