import { describe, expect, setSystemTime, test } from "bun:test";

import { Webhook } from "standardwebhooks";

import { delaysIn, nextRetryMs } from "../../../src/outbound/model/retry-delays.ts";
import { json, sample, type TestApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { gatewayEnv, gatewaySecret, type Received, testGateway } from "../../support/gateway.ts";
import {
  afterAttempt,
  deliver,
  hour,
  idsOf,
  minute,
  second,
  untilLater,
  waits,
} from "../../support/notifying.ts";
import { itemsOf, listed, timelineOf } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";

const taken = resources();

/** Verifies a delivery with the standardwebhooks library, at the time it was sent. Throws if it is not genuine. */
function verified(
  { headers, body }: Received,
  change: Partial<Record<"id" | "timestamp" | "body", string>> = {},
): unknown {
  setSystemTime(new Date(Number(headers["webhook-timestamp"]) * second));
  try {
    return new Webhook(gatewaySecret).verify(change.body ?? body, {
      "webhook-id": change.id ?? headers["webhook-id"] ?? "",
      "webhook-timestamp": change.timestamp ?? headers["webhook-timestamp"] ?? "",
      "webhook-signature": headers["webhook-signature"] ?? "",
    });
  } finally {
    setSystemTime();
  }
}

describe("a notification at the operator gateway", () => {
  test("is a CloudEvent signed per Standard Webhooks, with the notification's id", async () => {
    const gateway = taken.gateway(() => new Response(null, { status: 204 }));
    const app = await taken.app(gateway.env);
    const answer = await json(await deliver(app));
    await until(() => gateway.received.length === 1);
    const notification = await afterAttempt(app, 1);
    const [got] = gateway.received;
    if (got === undefined) throw new Error("Nothing arrived");
    expect(got.headers).toMatchObject({
      "content-type": "application/cloudevents+json; charset=utf-8",
      "webhook-id": notification["id"],
      "webhook-timestamp": String(Math.floor(app.clock.now() / second)),
    });
    expect(verified(got)).toMatchObject({
      specversion: "1.0",
      id: answer["id"],
      type: "io.skyhook.task_tracker.task.completed",
      source: "/webhooks/task_tracker",
      idempotencykey: answer["idempotencyKey"],
      datacontenttype: "application/json",
      data: { notificationId: notification["id"], title: notification["title"] },
    });
    expect(notification).toMatchObject({ status: "delivered", attemptCount: 1, dueAt: null });
  });

  test("has the route that received the event as its source, also for a booking", async () => {
    const gateway = taken.gateway(() => new Response(null, { status: 204 }));
    const app = await taken.app(gateway.env);
    const flight = await addFlight(app);
    await app.as("user", "/v1/api/bookings", post(bookingBody(flight.id)));
    await deliver(app);
    await until(() => gateway.received.length === 2);
    const sources = gateway.received.map((got) => String(Object(verified(got))["source"]));
    expect(sources.toSorted()).toEqual(["/v1/api/bookings", "/webhooks/task_tracker"]);
    const paths = app.app.routes.map(({ path }) => path.replace(":provider", "task_tracker"));
    for (const source of sources) expect(paths).toContain(source);
  });

  test("has the same id and a new signature for every attempt", async () => {
    const gateway = taken.gateway(
      (number) => new Response(null, { status: number < 4 ? 500 : 200 }),
    );
    const app = await taken.app(gateway.env);
    await deliver(app);
    for (const [index, wait] of waits.slice(0, 3).entries()) {
      await afterAttempt(app, index + 1);
      app.clock.advance(wait);
    }
    const notification = await afterAttempt(app, 4);
    expect(notification["status"]).toBe("delivered");
    expect([...idsOf(gateway)]).toEqual([String(notification["id"])]);
    const stamps = gateway.received.map(({ headers }) => headers["webhook-timestamp"]);
    expect(new Set(stamps).size).toBe(4);
    for (const got of gateway.received) expect(() => verified(got)).not.toThrow();
  });
});

describe("a failed attempt", () => {
  const failing = async (answer: Parameters<typeof testGateway>[0]) => {
    const gateway = taken.gateway(answer);
    const app = await taken.app(gateway.env);
    await deliver(app);
    return { app, gateway, notification: await afterAttempt(app, 1) };
  };
  const waitOf = async (app: TestApp, notification: Record<string, unknown>) => {
    const [{ attempts } = {}] = await timelineOf(app, notification["eventId"]);
    const [{ startedAt, durationMs } = {}] = itemsOf(attempts).toReversed();
    const ended = Date.parse(String(startedAt)) + Number(durationMs);
    return Date.parse(String(notification["dueAt"])) - ended;
  };

  test("does not take longer because the clock jumped forward meanwhile", async () => {
    let jump = () => {};
    const gateway = taken.gateway(() => {
      jump();
      return new Response("no", { status: 500 });
    });
    const app = await taken.app(gateway.env);
    jump = () => app.clock.jump(3_600_000);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    const [{ attempts } = {}] = await timelineOf(app, id);
    expect(Number(itemsOf(attempts)[0]?.["durationMs"])).toBeLessThan(3_600_000);
  });

  test("is retried in 5 s after a 500, and stores the start of the response", async () => {
    const { app, notification } = await failing(() => new Response("No\n\tdisk", { status: 500 }));
    expect(notification).toMatchObject({ status: "retrying", lastError: "HTTP 500: No disk" });
    expect(await waitOf(app, notification)).toBe(5 * second);
  });

  test.each([
    ["seconds", () => "60", 60 * second],
    ["seconds fewer than ours", () => "1", 5 * second],
    ["an HTTP date", (now: number) => new Date(now + 90 * second).toUTCString(), 90 * second],
    ["an HTTP date gone by", (now: number) => new Date(now - hour).toUTCString(), 5 * second],
    ["more than a day", () => "999999999", 24 * hour],
    ["neither", () => "soon", 5 * second],
  ])(
    "is retried after the longer delay for a 429 with Retry-After in %s",
    async (_, retryAfter, expected) => {
      const clock = manualClock();
      const headers = { "retry-after": retryAfter(clock.now()) };
      const { app, notification } = await failing(() => new Response("", { status: 429, headers }));
      const waited = await waitOf(app, notification);
      // The clock has advanced since the date was made, and HTTP dates have whole seconds.
      expect(waited).toBeLessThanOrEqual(expected);
      expect(waited).toBeGreaterThan(expected - second);
    },
  );

  test("does not follow redirects [API7-3]", async () => {
    const { gateway, notification } = await failing(
      () => new Response(null, { status: 301, headers: { location: "/elsewhere" } }),
    );
    expect(notification).toMatchObject({ status: "retrying", lastError: "HTTP 301" });
    expect(gateway.received.map(({ path }) => path)).toEqual(["/notify"]);
  });

  test("is not made while an earlier one may still succeed", async () => {
    const answer = Promise.withResolvers<Response>();
    const gateway = taken.gateway((number) => (number === 1 ? answer.promise : new Response()));
    const app = await taken.app(gateway.env);
    await deliver(app);
    await until(() => gateway.received.length === 1);
    // Just before the first attempt times out.
    app.clock.advance(9.9 * second);
    await deliver(app);
    await until(() => idsOf(gateway).size === 2);
    answer.resolve(new Response());
    await untilLater(
      app,
      async () => (await listed(app, "/v1/notifications?status=delivered")).length === 2,
    );
    expect(gateway.received).toHaveLength(2);
  });

  test("is retried after an aborted connection", async () => {
    let connections = 0;
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          connections += 1;
          socket.terminate();
        },
      },
    });
    const app = await taken.app(gatewayEnv(`http://127.0.0.1:${server.port}/`));
    await deliver(app);
    expect((await afterAttempt(app, 1))["status"]).toBe("retrying");
    expect(connections).toBeGreaterThan(0);
  });

  test("reads and stores only the start of a huge response [API7-4]", async () => {
    const { notification } = await failing(
      () => new Response("x".repeat(10_000_000), { status: 500 }),
    );
    expect(String(notification["lastError"])).toHaveLength("HTTP 500: ".length + 200);
  });

  test("is not a 200 whose body never ends, which counts as delivered [GATEWAY-3]", async () => {
    let chunks = 0;
    const endless = () =>
      new ReadableStream({
        async pull(controller) {
          chunks += 1;
          controller.enqueue(new Uint8Array(64 * 1024));
          await new Promise((resolve) => setImmediate(resolve));
        },
      });
    const { notification } = await failing(() => new Response(endless()));
    expect(notification["status"]).toBe("delivered");
    expect(chunks).toBeLessThan(1_000);
  });
});

describe("retries", () => {
  test("follow after 5 s, 30 s, 2 min, 10 min, 1 h and 6 h; then the notification is dead, listed and logged", async () => {
    const gateway = taken.gateway(() => new Response("no", { status: 500 }));
    const app = await taken.app(gateway.env);
    const { id } = await json(await deliver(app));
    for (const [index, wait] of waits.entries()) {
      const { status, dueAt } = await afterAttempt(app, index + 1);
      const [{ attempts } = {}] = await timelineOf(app, id);
      const { startedAt, durationMs } = itemsOf(attempts)[index] ?? {};
      const ended = Date.parse(String(startedAt)) + Number(durationMs);
      expect(status).toBe("retrying");
      // The clock may advance between the end of the attempt and its record, from which the wait counts.
      const dueMs = Date.parse(String(dueAt));
      expect(dueMs - ended).toBeWithin(wait, wait + second);
      app.clock.advance(dueMs - app.clock.now() - 1);
      await until(async () => (await app.services.unready()) === null);
      expect(gateway.received).toHaveLength(index + 1);
      app.clock.advance(1);
    }
    const dead = await afterAttempt(app, 7);
    expect(dead).toMatchObject({ status: "dead", attemptCount: 7, dueAt: null });
    app.clock.advance(48 * hour);
    expect(await listed(app, "/v1/notifications?status=dead")).toEqual([dead]);
    const [timeline] = await timelineOf(app, id);
    const failed = { notificationId: dead["id"], delivered: false, responseStatus: 500 };
    expect(timeline?.["attempts"]).toEqual(
      Array.from({ length: 7 }, () =>
        expect.objectContaining({ ...failed, error: "HTTP 500: no" }),
      ),
    );
    expect(gateway.received).toHaveLength(7);
    const metrics = await (await app.fetch("/metrics")).text();
    expect(metrics).toContain('skyhook_outbox_notifications{status="dead"} 1');
  });

  test("have up to 10 % of jitter", () => {
    for (const [index, wait] of waits.entries()) {
      expect(nextRetryMs(delaysIn(null), index + 1, null, 0)).toBe(wait);
      const most = nextRetryMs(delaysIn(null), index + 1, null, 1 - Number.EPSILON);
      expect(most).toBeGreaterThan(wait * 1.099);
      expect(most).toBeLessThanOrEqual(wait * 1.1);
    }
    expect(nextRetryMs(delaysIn(null), 7, null, 0)).toBeNull();
    expect(nextRetryMs(delaysIn(null), 7, minute, 0)).toBeNull();
  });

  test("start again if a duplicate of a dead notification's event is received", async () => {
    let status = 500;
    const gateway = taken.gateway(() => new Response(null, { status }));
    const app = await taken.app(gateway.env);
    const { headers, body } = sample("task_tracker", "task.completed", app.clock);
    const send = () => app.deliver("task_tracker", JSON.stringify(body), { headers });
    const { id } = await json(await send());
    await afterAttempt(app, 1);
    expect(await json(await send())).toMatchObject({ status: "duplicate", id });
    for (const [index, wait] of waits.entries()) {
      await afterAttempt(app, index + 1);
      app.clock.advance(wait);
    }
    expect((await afterAttempt(app, 7))["status"]).toBe("dead");
    status = 200;
    expect(await json(await send())).toMatchObject({ status: "duplicate", id });
    const { status: now, attemptCount } = await afterAttempt(app, 8);
    expect([now, attemptCount]).toEqual(["delivered", 1]);
    expect(idsOf(gateway).size).toBe(1);
  });
});
