import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";

import { eventStream, type ServerSentEvent } from "../../../src/web/rest/sse.ts";
import { type TestApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { endsAfterEach } from "../../support/ends.ts";
import { readFeed, serveStream } from "../../support/feed.ts";
import { serving } from "../../support/serving.ts";

const ends = endsAfterEach();

const serve = () => serveStream(ends, "/v1/feed");

/** Delivers `count` events and returns the titles of their notifications, in order. */
async function deliver(app: TestApp, count: number, from = 1): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, index) => from + index);
  const body = (number: number) =>
    JSON.stringify({
      event_name: "item:completed",
      event_data: { id: `${number}`, content: `task <${number}>` },
    });
  for (const number of numbers) {
    expect((await app.deliver("task_tracker", body(number))).status).toBe(200);
  }
  app.clock.advance(100);
  return numbers.map((number) => `<${number}>`);
}

/** A connection that sends a request and does not read the response. */
function stalled(port: number, path: string, headers: Record<string, string> = {}): Socket {
  const socket = connect(port, "127.0.0.1");
  ends.push(() => socket.destroy());
  socket.pause();
  const lines = Object.entries({ host: "localhost", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`);
  return socket;
}

const numberOf = (title: unknown) => /<\d+>/.exec(String(title))?.[0];
const followers = async (app: TestApp) =>
  Number(/^skyhook_feed_subscribers (\d+)$/m.exec(await (await app.fetch("/metrics")).text())?.[1]);

describe("the feed", () => {
  test("opens at once, before the first notification, as an event stream that must not be cached", async () => {
    const { ask } = await serve();
    const response = await ask("operator");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const reader = readFeed(response);
    expect(await reader.line()).toBe("retry: 2000");
    await reader.close();
  });

  test("sends a notification once it is committed", async () => {
    const { app, follow } = await serve();
    const feed = await follow();
    const [title] = await deliver(app, 1);
    const { id, event, data } = await feed.next();
    expect(id).toMatch(/^\d+$/);
    expect(event).toBe("notification");
    expect(data).toMatchObject({
      id: expect.stringMatching(/^ntf_/),
      eventId: expect.stringMatching(/^evt_/),
      provider: "task_tracker",
      type: "task.completed",
      severity: expect.any(String),
    });
    expect(numberOf(data["title"])).toBe(title);
  });

  test("starts with new notifications if there is no Last-Event-ID", async () => {
    const { app, follow } = await serve();
    await deliver(app, 3);
    const feed = await follow();
    const [title] = await deliver(app, 1, 4);
    expect(numberOf((await feed.next()).data["title"])).toBe(title);
  });

  test.each([1, 99, 100, 101, 250])(
    "resumes after a disconnect without missing or repeating any of %d notifications",
    async (missed) => {
      const { app, follow } = await serve();
      const first = await follow();
      const before = await deliver(app, 2);
      const seen = [await first.next(), await first.next()];
      await first.close();
      const meanwhile = await deliver(app, missed, 3);
      const second = await follow("", seen.at(-1)?.id);
      const after = await deliver(app, 2, missed + 3);
      while (seen.length < missed + 4) seen.push(await second.next());
      const titles = seen.map(({ data }) => numberOf(data["title"]));
      expect(titles).toEqual([...before, ...meanwhile, ...after]);
      const ids = seen.map(({ id }) => Number(id));
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    },
  );

  test("starts with new notifications for a Last-Event-ID of another database", async () => {
    const { app, follow } = await serve();
    await deliver(app, 3);
    const feed = await follow("", String(Number.MAX_SAFE_INTEGER));
    const seen: unknown[] = [];
    void feed.next().then(({ data }) => seen.push(numberOf(data["title"])));
    const titles = await deliver(app, 1, 4);
    await until(() => seen.length > 0);
    expect(seen).toEqual(titles);
  });

  test("resumes for a client that saw only the first of many", async () => {
    const { app, follow } = await serve();
    const titles = await deliver(app, 5);
    const feed = await follow("", "0");
    const all = [];
    while (all.length < 5) all.push(numberOf((await feed.next()).data["title"]));
    expect(all).toEqual(titles);
  });

  test.each(["x", "-1", "1.5", "1e3", "9".repeat(16), "0x1", "1 2"])(
    "rejects the Last-Event-ID %j",
    async (lastEventId) => {
      const { ask } = await serve();
      const response = await ask("operator", "", { headers: { "last-event-id": lastEventId } });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: "invalid-parameter",
        errors: [{ parameter: "Last-Event-ID" }],
      });
    },
  );

  test("sends a heartbeat after every 15 s without a message", async () => {
    const { app, follow } = await serve();
    const feed = await follow();
    expect(await feed.line()).toBe("retry: 2000");
    expect(await feed.line()).toBe("id: 0");
    expect(await feed.line()).toBe("");
    await until(async () => (await followers(app)) === 1);
    for (const _ of [1, 2, 3]) {
      app.clock.advance(14_999);
      app.clock.advance(1);
      expect(await feed.line()).toBe(": still here");
      expect(await feed.line()).toBe("");
    }
    app.clock.advance(14_000);
    await deliver(app, 1);
    expect(await feed.line()).toStartWith("id: ");
    expect(await feed.line()).toBe("event: notification");
    expect(await feed.line()).toStartWith("data: ");
    expect(await feed.line()).toBe("");
    // The message restarts the interval, so there is no heartbeat 15 s after the last one.
    app.clock.advance(14_000);
    await deliver(app, 1, 2);
    expect(await feed.line()).toStartWith("id: ");
  });
});

describe("a follower that disconnects", () => {
  test("is no longer counted, whether it was waiting or between two messages", async () => {
    const { app, follow } = await serve();
    const quiet = await follow();
    await until(async () => (await followers(app)) === 1);
    const busy = await follow("", "0");
    await until(async () => (await followers(app)) === 2);
    await deliver(app, 300);
    await busy.next();
    await busy.close();
    await until(async () => (await followers(app)) === 1);
    await quiet.close();
    await until(async () => (await followers(app)) === 0);
  });

  test("is no longer counted if it never read", async () => {
    const { app, port } = await serve();
    await deliver(app, 200);
    const token = await app.services.tokens.mint({ id: "t", roles: ["operator"] }, 3_600);
    const headers = { authorization: `Bearer ${token}`, "last-event-id": "0" };
    const socket = stalled(port, "/v1/feed", headers);
    await until(async () => (await followers(app)) === 1);
    socket.destroy();
    await until(async () => (await followers(app)) === 0);
  });

  test("is not counted if it sent a HEAD request", async () => {
    const { app, ask } = await serve();
    const response = await ask("operator", "", { method: "HEAD" });
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    expect(await response.text()).toBe("");
    await until(async () => (await followers(app)) === 0);
  });
});

describe("a follower that does not read", () => {
  test("buffers no more than its connection holds, and is released when it disconnects [API4-19]", async () => {
    let made = 0;
    let isOver = false;
    async function* endless(): AsyncGenerator<ServerSentEvent, void> {
      try {
        for (;;) {
          made += 1;
          yield { id: `${made}`, event: "notification", data: "x".repeat(64 * 1024) };
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        isOver = true;
      }
    }
    let ended = 0;
    await using server = serving(() => eventStream(manualClock(), endless(), () => (ended += 1)));
    const lazy = stalled(server.port ?? 0, "/");
    let turnsWithoutMore = 0;
    let before = 0;
    await until(() => {
      turnsWithoutMore = made === before && made > 0 ? turnsWithoutMore + 1 : 0;
      before = made;
      return turnsWithoutMore === 50 || made > 1_000;
    });
    // Messages of 64 KiB each: the buffers of both ends of a connection.
    expect(made).toBeLessThan(500);
    lazy.destroy();
    await until(() => isOver);
    expect(ended).toBe(1);
  });

  test("delays no other follower and misses nothing", async () => {
    const { app, port, follow } = await serve();
    const token = await app.services.tokens.mint({ id: "t", roles: ["operator"] }, 3_600);
    const lazy = stalled(port, "/v1/feed", { authorization: `Bearer ${token}` });
    await until(async () => (await followers(app)) === 1);
    const eager = await follow();
    await until(async () => (await followers(app)) === 2);
    const titles = await deliver(app, 500);
    for (const title of titles) expect(numberOf((await eager.next()).data["title"])).toBe(title);
    let received = "";
    lazy.on("data", (chunk) => (received += chunk.toString()));
    lazy.resume();
    await until(() => received.includes(titles.at(-1) ?? ""));
    const ids = [...received.matchAll(/^id: (\d+)\nevent/gm)].map(([, id]) => Number(id));
    expect(new Set(ids).size).toBe(500);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    lazy.destroy();
  });

  test("receives one heartbeat that waited when it reads, not one for every 15 s", async () => {
    const clock = manualClock();
    const happening = Promise.withResolvers<ServerSentEvent>();
    async function* one(): AsyncGenerator<ServerSentEvent, void> {
      yield await happening.promise;
    }
    const feed = readFeed(eventStream(clock, one(), () => {}));
    expect(await feed.line()).toBe("retry: 2000");
    // Nothing is sent to a client that does not read.
    clock.advance(100 * 15_000);
    expect(await feed.line()).toBe("");
    // This one waits for the next line, and then does not read again.
    const beat = feed.line();
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100 * 15_000);
    expect(await beat).toBe(": still here");
    happening.resolve({ id: "1", event: "notification", data: {} });
    const lines: string[] = [];
    while (lines.at(-1) !== "data: {}") lines.push(await feed.line());
    expect(lines).toEqual(["", ": still here", "", "id: 1", "event: notification", "data: {}"]);
  });
});

test("when the service stops all streams end, and new ones end at once", async () => {
  const { app, follow } = await serve();
  const feeds = [await follow(), await follow("", "0")];
  await deliver(app, 1);
  for (const feed of feeds) await feed.next();
  app.services.drain();
  for (const feed of feeds) expect(await feed.ended()).toBe(true);
  expect(await (await follow()).ended()).toBe(true);
  expect(await followers(app)).toBe(0);
});

test("a stream of events that fails sends the messages before the error, ends, and reports the error", async () => {
  async function* failing(): AsyncGenerator<ServerSentEvent, void> {
    yield { id: "1", event: "notification", data: {} };
    throw new Error("The database cannot be read");
  }
  const errors: unknown[] = [];
  await using server = serving(() =>
    eventStream(manualClock(), failing(), (error) => errors.push(error)),
  );
  const feed = readFeed(await fetch(server.url));
  expect((await feed.next()).id).toBe("1");
  expect(await feed.ended()).toBe(true);
  expect(errors).toEqual([new Error("The database cannot be read")]);
});
