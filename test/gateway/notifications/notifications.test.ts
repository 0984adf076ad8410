import { Database } from "bun:sqlite";
import { afterEach, describe, expect, setDefaultTimeout, setSystemTime, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Webhook } from "standardwebhooks";

import { retryAfterMs } from "../../../src/gateway/notifications/channels/gateway.ts";
import { nextRetryMs } from "../../../src/gateway/notification.ts";
import { deleteSettledEvent } from "../../../src/gateway/retention/retention.sql.ts";
import { write } from "../../../src/db/statement.ts";
import { json, sample, startApp, type TestApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { failure } from "../../support/failure.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import {
  gatewaySecret,
  never,
  type Received,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { itemsOf, listed, timelineOf } from "../../support/operator.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
/** The documented retry schedule. */
const waits = [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour];

// Every wait has its own time limit. This one allows for a busy machine.
setDefaultTimeout(30_000);

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function gatewayThat(answer: Parameters<typeof testGateway>[0]): TestGateway {
  const gateway = testGateway(answer);
  ends.push(() => gateway.stop());
  return gateway;
}

async function startWith(url: string, env: Record<string, string> = {}): Promise<TestApp> {
  const app = await startApp({
    OPERATOR_GATEWAY_URL: url,
    OPERATOR_GATEWAY_SECRET: gatewaySecret,
    ...env,
  });
  ends.push(() => app.stop());
  return app;
}

const deliver = (app: TestApp) => app.deliverSample("task_tracker", "task.completed");

/** Advances the clock in small increments until the condition holds. */
const untilLater = (app: TestApp, condition: () => boolean | Promise<boolean>) =>
  until(() => {
    app.clock.advance(10);
    return condition();
  });

async function newest(app: TestApp): Promise<Record<string, unknown>> {
  const [notification] = await listed(app, "/v1/notifications");
  if (notification === undefined) throw new Error("No notifications");
  return notification;
}

/** The newest notification, once its `number`th attempt is recorded. */
async function afterAttempt(app: TestApp, number: number): Promise<Record<string, unknown>> {
  await untilLater(app, async () => {
    const [latest] = (await timelineOf(app, (await newest(app))["eventId"])).slice(-1);
    return itemsOf(latest?.["attempts"]).length >= number;
  });
  return newest(app);
}

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

const idsOf = ({ received }: TestGateway) =>
  new Set(received.map(({ headers }) => headers["webhook-id"]));

describe("a notification at the operator gateway", () => {
  test("is a CloudEvent signed per Standard Webhooks, with the notification's id", async () => {
    const gateway = gatewayThat(() => new Response(null, { status: 204 }));
    const app = await startWith(gateway.url);
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
    const gateway = gatewayThat(() => new Response(null, { status: 204 }));
    const app = await startWith(gateway.url);
    const flight = await addFlight(app);
    await app.as("user", "/v1/api/bookings", post(bookingBody(flight.id)));
    await deliver(app);
    await until(() => gateway.received.length === 2);
    const sources = gateway.received.map((got) => String(Object(verified(got))["source"]));
    expect(sources.toSorted()).toEqual(["/v1/api/bookings", "/webhooks/task_tracker"]);
    const paths = app.app.routes.map(({ path }) => path.replace(":provider", "task_tracker"));
    for (const source of sources) expect(paths).toContain(source);
  });

  test("does not verify if it was changed in transit", async () => {
    const gateway = gatewayThat(() => new Response());
    await deliver(await startWith(gateway.url));
    await until(() => gateway.received.length === 1);
    const [got] = gateway.received;
    if (got === undefined) throw new Error("Nothing arrived");
    expect(() => verified(got)).not.toThrow();
    const later = String(Number(got.headers["webhook-timestamp"]) + 1);
    expect(() => verified(got, { id: "ntf_other" })).toThrow("No matching signature");
    expect(() => verified(got, { timestamp: later })).toThrow("No matching signature");
    expect(() => verified(got, { body: got.body.replace("1.0", "1.1") })).toThrow(
      "No matching signature",
    );
  });

  test("has the same id and a new signature for every attempt", async () => {
    const gateway = gatewayThat((number) => new Response(null, { status: number < 4 ? 500 : 200 }));
    const app = await startWith(gateway.url);
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
    const gateway = gatewayThat(answer);
    const app = await startWith(gateway.url);
    await deliver(app);
    return { app, gateway, notification: await afterAttempt(app, 1) };
  };
  const waitOf = async (app: TestApp, notification: Record<string, unknown>) => {
    const [{ attempts } = {}] = await timelineOf(app, notification["eventId"]);
    const [{ startedAt, durationMs } = {}] = itemsOf(attempts).toReversed();
    const ended = Date.parse(String(startedAt)) + Number(durationMs);
    return Date.parse(String(notification["dueAt"])) - ended;
  };

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

  test("times out after 10 s without a response", async () => {
    const gateway = gatewayThat(never);
    const app = await startWith(gateway.url);
    await deliver(app);
    await until(() => gateway.received.length === 1);
    app.clock.advance(9_999);
    expect((await newest(app))["status"]).toBe("pending");
    app.clock.advance(1);
    const notification = await afterAttempt(app, 1);
    expect(notification).toMatchObject({ status: "retrying", lastError: "no answer within 10 s" });
  });

  test("times out after 10 s if the response does not end", async () => {
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => void socket.write("HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\n"),
      },
    });
    const app = await startWith(`http://127.0.0.1:${server.port}/`);
    await deliver(app);
    await untilLater(app, async () => {
      app.clock.advance(second);
      return (await newest(app))["status"] === "retrying";
    });
    expect((await newest(app))["lastError"]).toBe("no answer within 10 s");
  });

  test("is retried after a refused connection", async () => {
    const gone = testGateway(() => new Response());
    await gone.stop();
    const app = await startWith(gone.url);
    await deliver(app);
    const notification = await afterAttempt(app, 1);
    expect(notification["status"]).toBe("retrying");
    const [{ attempts } = {}] = await timelineOf(app, notification["eventId"]);
    expect(itemsOf(attempts)).toMatchObject([
      { delivered: false, responseStatus: null, error: expect.stringMatching(/connect/i) },
    ]);
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
    const app = await startWith(`http://127.0.0.1:${server.port}/`);
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
    const gateway = gatewayThat(() => new Response("no", { status: 500 }));
    const app = await startWith(gateway.url);
    const { id } = await json(await deliver(app));
    for (const [index, wait] of waits.entries()) {
      const { status, dueAt } = await afterAttempt(app, index + 1);
      const [{ attempts } = {}] = await timelineOf(app, id);
      const { startedAt, durationMs } = itemsOf(attempts)[index] ?? {};
      const ended = Date.parse(String(startedAt)) + Number(durationMs);
      expect([status, Date.parse(String(dueAt)) - ended]).toEqual(["retrying", wait]);
      app.clock.advance(wait - (app.clock.now() - ended) - 1);
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
      expect(nextRetryMs(index + 1, null, 0)).toBe(wait);
      const most = nextRetryMs(index + 1, null, 1 - Number.EPSILON);
      expect(most).toBeGreaterThan(wait * 1.099);
      expect(most).toBeLessThanOrEqual(wait * 1.1);
    }
    expect(nextRetryMs(7, null, 0)).toBeNull();
    expect(nextRetryMs(7, minute, 0)).toBeNull();
  });

  test.each([
    [null, null],
    ["0", 0],
    ["120", 120_000],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 37_000],
    ["Sun, 06 Nov 1994 08:48:00 GMT", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 37_000],
    ["-5", null],
    ["1.5", null],
    ["2050-01-01", null],
    ["", null],
    ["soon", null],
  ])("parse Retry-After %j as %j ms", (header, expected) => {
    expect(retryAfterMs(header, Date.UTC(1994, 10, 6, 8, 49, 0))).toBe(expected);
  });

  test("start again if a duplicate of a dead notification's event is received", async () => {
    let status = 500;
    const gateway = gatewayThat(() => new Response(null, { status }));
    const app = await startWith(gateway.url);
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

describe("an operator's replay", () => {
  test("sends new notifications if the first were delivered", async () => {
    const gateway = gatewayThat(() => new Response());
    const app = await startWith(gateway.url);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    for (const count of [2, 3]) {
      const replay = await app.as("operator", `/v1/events/${String(id)}/replay`, {
        method: "POST",
      });
      expect(replay.status).toBe(200);
      await untilLater(app, () => gateway.received.length === count);
    }
    expect(idsOf(gateway).size).toBe(3);
    await untilLater(app, async () =>
      (await timelineOf(app, id)).every(({ status }) => status === "delivered"),
    );
    expect(await timelineOf(app, id)).toHaveLength(3);
  });

  test.each([
    ["is dead", [...waits, null]],
    ["waits for its next attempt", [null]],
  ])("sends a notification that %s again at once, with its own id", async (_, delays) => {
    let status = 500;
    const gateway = gatewayThat(() => new Response(null, { status }));
    const app = await startWith(gateway.url);
    const { id } = await json(await deliver(app));
    for (const [index, wait] of delays.entries()) {
      await afterAttempt(app, index + 1);
      if (wait !== null) app.clock.advance(wait);
    }
    status = 200;
    await app.as("operator", `/v1/events/${String(id)}/replay`, { method: "POST" });
    const { status: now, attemptCount } = await afterAttempt(app, delays.length + 1);
    expect([now, attemptCount]).toEqual(["delivered", 1]);
    expect(idsOf(gateway).size).toBe(1);
    expect(await timelineOf(app, id)).toHaveLength(1);
  });
});

const replay = (app: TestApp, id: unknown, query = "") =>
  app.as("operator", `/v1/events/${String(id)}/replay${query}`, { method: "POST" });

describe("an operator's replay during an attempt", () => {
  test("sends a new notification during a first attempt, unless onlyUndelivered is set", async () => {
    const answer = Promise.withResolvers<Response>();
    const gateway = gatewayThat(() => answer.promise);
    const app = await startWith(gateway.url);
    const { id } = await json(await deliver(app));
    await untilLater(app, () => gateway.received.length === 1);
    expect((await replay(app, id, "?onlyUndelivered=true")).status).toBe(200);
    expect(await timelineOf(app, id)).toHaveLength(1);
    expect((await replay(app, id)).status).toBe(200);
    await untilLater(app, () => gateway.received.length === 2);
    answer.resolve(new Response());
    await untilLater(app, async () =>
      (await timelineOf(app, id)).every(({ status }) => status === "delivered"),
    );
    expect(idsOf(gateway).size).toBe(2);
    expect(gateway.received).toHaveLength(2);
  });

  /** An event whose second attempt is running and waits for `answer`. */
  async function retried(answer: Promise<Response>) {
    const answers = [new Response(null, { status: 500 }), answer];
    const gateway = gatewayThat((number) => answers[number - 1] ?? new Response());
    const app = await startWith(gateway.url);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    app.clock.advance(6 * second);
    await untilLater(app, () => gateway.received.length === 2);
    return { app, gateway, id };
  }

  test("does not send during a running retry, which can still succeed", async () => {
    const answer = Promise.withResolvers<Response>();
    const { app, gateway, id } = await retried(answer.promise);
    expect((await replay(app, id)).status).toBe(200);
    // When this one has arrived, all due notifications have been sent.
    const { id: other } = await json(await deliver(app));
    await untilLater(app, async () =>
      (await timelineOf(app, other)).every(({ status }) => status === "delivered"),
    );
    expect(gateway.received).toHaveLength(3);
    answer.resolve(new Response());
    await untilLater(app, async () => (await timelineOf(app, id))[0]?.["status"] === "delivered");
    app.clock.advance(hour);
    expect(itemsOf((await timelineOf(app, id))[0]?.["attempts"])).toHaveLength(2);
    expect(gateway.received).toHaveLength(3);
  });

  test("sends again at once after a running retry has failed", async () => {
    const answer = Promise.withResolvers<Response>();
    const { app, gateway, id } = await retried(answer.promise);
    expect((await replay(app, id)).status).toBe(200);
    answer.resolve(new Response(null, { status: 500 }));
    await untilLater(app, () => gateway.received.length === 3);
    await untilLater(app, async () => (await timelineOf(app, id))[0]?.["status"] === "delivered");
    expect(await timelineOf(app, id)).toMatchObject([{ attemptCount: 1 }]);
    expect(idsOf(gateway).size).toBe(1);
  });

  test("sends nothing with onlyUndelivered if all are delivered", async () => {
    const gateway = gatewayThat(() => new Response());
    const app = await startWith(gateway.url);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    expect((await replay(app, id, "?onlyUndelivered=true")).status).toBe(200);
    expect(await timelineOf(app, id)).toHaveLength(1);
    const wrong = await replay(app, id, "?onlyUndelivered=1");
    expect([wrong.status, await json(wrong)]).toMatchObject([400, { code: "invalid-parameter" }]);
    expect(await timelineOf(app, id)).toHaveLength(1);
  });

  test("creates nothing for an event that is deleted meanwhile", async () => {
    const app = await startWith(gatewayThat(() => new Response()).url);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    const { storage, events } = app.services;
    const ctx = {
      actor: { id: "someone", roles: ["operator"] },
      expiresAt: new Date(app.clock.now() + hour),
      requestId: "one",
    } as const;
    // Both transactions wait for the same commit, the deletion first. The replay reads the event before it.
    const deletion = storage.atomically(
      write(deleteSettledEvent, { id: `evt_${String(id).slice(4)}` }),
    );
    const error = await failure(events.replay(ctx, String(id)));
    await deletion;
    expect(error).toMatchObject({ code: "not-found" });
    // The event's own notification remains, because this transaction deletes only the event.
    expect(await listed(app, "/v1/notifications")).toHaveLength(1);
  });
});

describe("an operator gateway that hangs", () => {
  const count = 500;
  async function timeToAnswer(app: TestApp): Promise<number> {
    const start = performance.now();
    const answers = await Promise.all(Array.from({ length: count }, () => deliver(app)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    return performance.now() - start;
  }

  test("does not slow down webhooks and holds at most 16 deliveries [GATEWAY-2]", async () => {
    const without = await startApp();
    ends.push(() => without.stop());
    await timeToAnswer(without);
    const usualMs = await timeToAnswer(without);

    const gateway = gatewayThat(never);
    const app = await startWith(gateway.url);
    expect(await timeToAnswer(app)).toBeLessThan(usualMs * 10 + second);
    expect(await timeToAnswer(app)).toBeLessThan(usualMs * 10 + second);
    await untilLater(app, () => gateway.received.length === 16);
    app.clock.advance(10 * second);
    await untilLater(app, () => gateway.received.length === 32);
    expect(gateway.mostInFlight()).toBe(16);
  });

  test("receives every notification once after it responds again", async () => {
    const answering = Promise.withResolvers<void>();
    const gateway = gatewayThat(async () => {
      await answering.promise;
      return new Response();
    });
    const app = await startWith(gateway.url);
    await Promise.all(Array.from({ length: 100 }, () => deliver(app)));
    await until(() => gateway.received.length === 16);
    answering.resolve();
    await untilLater(app, () => gateway.received.length === 100);
    await untilLater(
      app,
      async () => (await listed(app, "/v1/notifications?status=pending")).length === 0,
    );
    expect(gateway.received).toHaveLength(100);
    expect(idsOf(gateway).size).toBe(100);
    expect(gateway.mostInFlight()).toBe(16);
  });
});

describe("no notification is lost", () => {
  function newFile(): string {
    const folder = mkdtempSync(join(tmpdir(), "skyhook-notifications-"));
    ends.push(() => rmSync(folder, { recursive: true }));
    return join(folder, "skyhook.db");
  }

  test("if the process dies during a delivery: the next one sends it again with the same id", async () => {
    const file = newFile();
    const dead = gatewayThat(never);
    const first = await startWith(dead.url, { DATABASE_URL: `sqlite:${file}` });
    await Promise.all(Array.from({ length: 20 }, () => deliver(first)));
    await until(() => dead.received.length === 16);

    const alive = gatewayThat(() => new Response());
    const second = await startWith(alive.url, { DATABASE_URL: `sqlite:${file}` });
    await untilLater(second, () => alive.received.length === 20);
    await untilLater(
      second,
      async () => (await listed(second, "/v1/notifications?status=delivered")).length === 20,
    );
    expect(idsOf(alive).size).toBe(20);
    for (const id of idsOf(dead)) expect(idsOf(alive)).toContain(id);
  });

  test("if the service stops during a delivery: the interrupted attempt does not count", async () => {
    const file = newFile();
    const hanging = gatewayThat(never);
    const first = await startWith(hanging.url, { DATABASE_URL: `sqlite:${file}` });
    const { id } = await json(await deliver(first));
    await until(() => hanging.received.length === 1);
    await first.stop();

    const alive = gatewayThat(() => new Response());
    const second = await startWith(alive.url, { DATABASE_URL: `sqlite:${file}` });
    await untilLater(second, () => alive.received.length === 1);
    await untilLater(second, async () => (await newest(second))["status"] === "delivered");
    expect([...idsOf(alive)]).toEqual([...idsOf(hanging)]);
    const [{ attempts } = {}] = await timelineOf(second, id);
    expect(attempts).toMatchObject([{ delivered: true }]);
  });

  test("if the outcome cannot be stored: it is sent again when the lease ends [GATEWAY-4]", async () => {
    const file = newFile();
    const held = Promise.withResolvers<Response>();
    const gateway = gatewayThat((number) => (number === 1 ? held.promise : new Response()));
    const app = await startWith(gateway.url, { DATABASE_URL: `sqlite:${file}` });
    await deliver(app);
    await until(() => gateway.received.length === 1);
    using other = new Database(file);
    other.run("begin immediate");
    held.resolve(new Response());
    await until(async () => (await app.services.unready()) !== null);
    other.run("rollback");
    expect((await newest(app))["status"]).toBe("pending");
    app.clock.advance(30 * second);
    await untilLater(app, async () => (await newest(app))["status"] === "delivered");
    expect(gateway.received).toHaveLength(2);
    expect(idsOf(gateway).size).toBe(1);
  });
});
