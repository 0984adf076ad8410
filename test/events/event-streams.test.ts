import { describe, expect, test } from "bun:test";

import { makeId } from "../../src/base/ids.ts";
import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { type EventStreams, eventStreams } from "../../src/events/event-streams.ts";
import { audit } from "../../src/identity/audit/audit.ts";
import { writeLimiter } from "../../src/identity/limiter.ts";
import { eventFeed } from "../../src/outbound/notifications/event-feed.ts";
import { jsonWith, type TestApp, until } from "../support/app.ts";
import { endsAfterEach } from "../support/ends.ts";
import { type FeedMessage, type FeedReader, serveStream } from "../support/feed.ts";
import { contextOf, itemsOf, listed } from "../support/operator.ts";
import { eventRow } from "../support/rows.ts";

const ends = endsAfterEach();
const serve = () => serveStream(ends, "/v1/events/feed");

/** Delivers a task with this number; `ignored` ones are of a type that the provider does not list. */
async function deliver(app: TestApp, number: number, isIgnored = false): Promise<void> {
  const body = JSON.stringify({
    event_name: isIgnored ? "item:updated" : "item:completed",
    event_data: { id: `${number}`, content: `task ${number}` },
  });
  expect((await app.deliver("task_tracker", body)).status).toBe(200);
  app.clock.advance(100);
}

/** The next `count` events, without positions. */
async function events(feed: FeedReader, count: number): Promise<FeedMessage[]> {
  const found: FeedMessage[] = [];
  while (found.length < count) {
    const message = await feed.next();
    if (message.event === "event") found.push(message);
  }
  return found;
}

const subjects = (messages: readonly FeedMessage[]) => messages.map(({ data }) => data["subject"]);

describe("the stream of events", () => {
  test("begins with its position, so that a client that sees no event can resume", async () => {
    const { app, follow } = await serve();
    await deliver(app, 1);
    const first = await follow();
    const { id, event } = await first.next();
    expect(event).toBe("position");
    await first.close();
    await deliver(app, 2);
    expect(subjects(await events(await follow("", id), 1))).toEqual(["task/2"]);
  });

  test("sends ignored and unreadable events too, with their severity", async () => {
    const { app, follow } = await serve();
    const feed = await follow();
    await deliver(app, 1);
    await deliver(app, 2, true);
    expect((await app.deliver("task_tracker", "no JSON")).status).toBe(400);
    app.clock.advance(100);
    const found = (await events(feed, 3)).map(({ data }) => [data["status"], data["severity"]]);
    expect(found).toEqual([
      ["accepted", "success"],
      ["ignored", null],
      ["unreadable", null],
    ]);
  });

  test("sends no bodies unless they are requested", async () => {
    const { app, follow } = await serve();
    const feed = await follow();
    await deliver(app, 1);
    const [event] = await events(feed, 1);
    expect(Object.keys(event?.data ?? {})).not.toContainAnyValues(["body", "receipt"]);
  });

  test.each([1, 100, 101, 250])("resumes without missing any of %d events", async (missed) => {
    const { app, follow } = await serve();
    const first = await follow();
    await deliver(app, 0);
    const [seen] = await events(first, 1);
    await first.close();
    for (let number = 1; number <= missed; number += 1) await deliver(app, number, true);
    const second = await follow("", seen?.id);
    const expected = Array.from({ length: missed }, (_, index) => `task/${index + 1}`);
    expect(subjects(await events(second, missed))).toEqual(expected);
  });

  test("starts with the events since a time", async () => {
    const { app, follow } = await serve();
    await deliver(app, 1);
    app.clock.advance(60_000);
    const from = new Date(app.clock.now()).toISOString();
    await deliver(app, 2);
    await deliver(app, 3);
    expect(subjects(await events(await follow(`?from=${from}`), 2))).toEqual(["task/2", "task/3"]);
    const later = await follow("?from=2999-01-01T00:00:00Z");
    expect((await later.next()).event).toBe("position");
    await deliver(app, 4);
    expect(subjects(await events(later, 1))).toEqual(["task/4"]);
  });

  test("sends only events of a provider, of types and of at least a severity", async () => {
    const { app, follow } = await serve();
    const feeds = {
      "?provider=code_host": ["package.published", "workflow_run.completed"],
      "?type=workflow_run.*": ["workflow_run.completed"],
      "?type=task.completed": ["task.completed"],
      "?severity=warning": ["deploy.error"],
    };
    const following = await Promise.all(
      Object.entries(feeds).map(async ([query, types]) => ({ feed: await follow(query), types })),
    );
    await app.deliverSample("code_host", "package.published");
    await deliver(app, 1);
    await app.deliverSample("deploy_platform", "deploy.error");
    await app.deliverSample("code_host", "workflow_run.completed");
    app.clock.advance(100);
    for (const { feed, types } of following) {
      const found = await events(feed, types.length);
      expect(found.map(({ data }) => data["type"])).toEqual(types);
    }
  });

  test("sends only events of a status, about a subject, with a key and with words", async () => {
    const { app, follow } = await serve();
    const feeds = {
      "?status=ignored": ["task/3"],
      "?subject=task/2": ["task/2"],
      "?q=three": ["task/3"],
      "?q=TWO%20buy": ["task/2"],
      "?q=thr*": ["task/3"],
      "?q=%22buy%20three%22": ["task/3"],
      "?q=buy": ["task/1", "task/2", "task/3"],
      "?q=buy&status=accepted": ["task/1", "task/2"],
      "?q=buy&subject=task/2": ["task/2"],
      "?q=buy&type=task.*&severity=success": ["task/1", "task/2"],
    };
    const following = await Promise.all(
      Object.entries(feeds).map(async ([query, expected]) => ({
        query,
        feed: await follow(query),
        expected,
      })),
    );
    for (const [number, content] of [
      [1, "buy one"],
      [2, "buy two"],
      [3, "buy three"],
    ] as const) {
      const event_name = number === 3 ? "item:updated" : "item:completed";
      const event_data = { id: `${number}`, content };
      const body = JSON.stringify({ event_name, event_data });
      expect((await app.deliver("task_tracker", body)).status).toBe(200);
    }
    app.clock.advance(100);
    for (const { query, feed, expected } of following) {
      expect([query, subjects(await events(feed, expected.length))]).toEqual([query, expected]);
    }
    const [{ idempotencyKey } = {}] = await listed(app, "/v1/events?q=one");
    const query = new URLSearchParams({ idempotencyKey: String(idempotencyKey) });
    const byKey = await follow(`?from=2020-01-01T00:00:00Z&${query.toString()}`);
    expect(subjects(await events(byKey, 1))).toEqual(["task/1"]);
  });

  test("finds words among many events of one time, and of other times", async () => {
    const { app, follow } = await serve();
    const { storage } = app.services;
    const at = app.clock.now();
    const expected: string[] = [];
    for (let number = 0; number < 260; number += 1) {
      // Three in four at one time, the others one second apart, backwards: as after a change of the clock.
      const createdAt = new Date(number % 4 > 0 ? at : at - number * 1_000);
      const title = number % 5 > 0 ? `Buy ${number}` : "Sell";
      const subject = `task/${number}`;
      const row = eventRow(number, { createdAt, title, subject });
      await storage.atomically(write(insertEvent, row));
      if (number % 5 > 0) expected.push(subject);
    }
    const feed = await follow("?from=2020-01-01T00:00:00Z&q=buy");
    expect(subjects(await events(feed, expected.length))).toEqual(expected);
  });

  test("tells its position to a client that no event matches", async () => {
    const { app, follow } = await serve();
    const feed = await follow("?provider=code_host");
    const start = await feed.next();
    for (let number = 1; number <= 500; number += 1) await deliver(app, number, true);
    const position = await feed.next();
    expect(position.event).toBe("position");
    expect(Number(position.id)).toBeGreaterThan(Number(start.id));
  });

  test("ends when the service stops", async () => {
    const { app, follow } = await serve();
    const feed = await follow();
    await feed.next();
    app.services.drain();
    expect(await feed.ended()).toBe(true);
  });
});

describe("the stream with bodies", () => {
  test("sends the exact bytes and the stored headers of webhooks, and records who reads them", async () => {
    const { app, follow } = await serve();
    const feed = await follow("?include=body&provider=task_tracker");
    const text = `{"event_name":"item:completed",  "event_data":{"id":"1","content":"é"}}`;
    await app.deliver("task_tracker", text, { headers: { "user-agent": "Tasks/1" } });
    await app.deliver("task_tracker", new Uint8Array([0xff, 0xfe]));
    app.clock.advance(100);
    const [readable, binary] = await events(feed, 2);
    expect(readable?.data).toMatchObject({
      body: text,
      bodyEncoding: "utf-8",
      receipt: { headers: { "content-type": "application/json", "user-agent": "Tasks/1" } },
    });
    expect(binary?.data).toMatchObject({ body: "//4=", bodyEncoding: "base64" });
    // The position of the signature's header is stored; its value is not.
    expect(JSON.stringify(readable?.data)).not.toMatch(/signature(?!-header":"1")/);
    const audit = await listed(app, "/v1/audit", "admin");
    expect(audit).toMatchObject([
      { action: "events.streamed", actor: "t", subject: "task_tracker" },
    ]);
  });

  test("sends a delivery with several events once, and resumes after all of them", async () => {
    const { app, follow } = await serve();
    const body = Buffer.from("[1,2,3]");
    const holder = eventRow(1, { body, item: 1, items: 3 });
    const other = { body: null, bodyOf: holder.place, items: 3 };
    const rows = [
      holder,
      eventRow(2, { ...other, item: 2 }),
      eventRow(3, { ...other, item: 3 }),
      eventRow(4),
    ];
    await app.services.storage.atomically(...rows.map((row) => write(insertEvent, row)));
    const feed = await follow("?include=body&from=2026-11-20T00:00:00Z");
    const [batch] = await events(feed, 1);
    expect(batch?.data).toMatchObject({ id: holder.id, body: "[1,2,3]", receipt: { item: 1 } });
    const [second, third, next] = [await feed.next(), await feed.next(), await feed.next()];
    expect([second.event, third.event, next.event]).toEqual(["position", "position", "event"]);
    expect(next.data).toMatchObject({ id: eventRow(4).id });
    const resumed = await follow("?include=body", third.id);
    expect((await events(resumed, 1))[0]?.data).toMatchObject({ id: eventRow(4).id });
  });
});

test("sends bodies to no more than 32 clients that connect at the same time", async () => {
  const { ask, follow } = await serve();
  const answers = await Promise.all(
    Array.from({ length: 40 }, async () => ask("operator", "?include=body")),
  );
  const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
  expect(statuses).toEqual([...Array<number>(32).fill(200), ...Array<number>(8).fill(503)]);
  expect(answers.find(({ status }) => status === 503)?.headers.get("retry-after")).toBe("10");
  await follow("");
  for (const { body } of answers) await body?.cancel();
  await until(async () => {
    const response = await ask("operator", "?include=body");
    await response.body?.cancel();
    return response.status === 200;
  });
});

describe("a stream with words", () => {
  /** Streams over an index that says whether it has the events. */
  function over(app: TestApp, has: (goesOn: () => boolean) => Promise<boolean>) {
    const { storage } = app.services;
    const { clock } = app;
    const feed = eventFeed(storage, clock, () => {});
    const index = { has: (_: unknown, goesOn: () => boolean) => has(goesOn) };
    const streams = eventStreams({
      storage,
      eventFeed: feed,
      index,
      checkProvider: async () => {},
      audit: audit(storage, clock, makeId, writeLimiter(clock)),
      clock,
    });
    ends.push(() => feed.close());
    return { streams, feed };
  }
  const opened = (streams: EventStreams, q?: string) =>
    streams.open(contextOf("operator", "operator"), {
      match: { q, from: new Date(0) },
      afterSeq: null,
      withBody: false,
      onOverdue: () => {},
    });

  test("does not open before its next events are indexed", async () => {
    const { app } = await serve();
    await deliver(app, 1);
    const { streams } = over(app, () => Promise.resolve(false));
    expect(opened(streams, "task")).rejects.toMatchObject({ code: "unavailable" });
    // Needs no index.
    const items = await opened(streams);
    await items.next();
    expect((await items.next()).value).toMatchObject({ event: { subject: "task/1" } });
  });

  test("waits for the index, passes no event over, and ends while it waits", async () => {
    const { app } = await serve();
    await deliver(app, 1);
    const asked = Promise.withResolvers<() => boolean>();
    const indexed = Promise.withResolvers<boolean>();
    let calls = 0;
    const { streams, feed } = over(app, (goesOn) => {
      calls += 1;
      if (calls === 1) return Promise.resolve(true);
      asked.resolve(goesOn);
      return indexed.promise;
    });
    const items = await opened(streams, "task");
    await items.next();
    const next = items.next();
    const goesOn = await asked.promise;
    expect(goesOn()).toBe(true);
    feed.close();
    expect(goesOn()).toBe(false);
    indexed.resolve(false);
    expect((await next).done).toBe(true);
  });
});

test.each([
  ..."from=yesterday from=2026-11-21 to=2026-11-21T09:00:00Z severity=fatal status=lost".split(" "),
  ..."subject= q= q=- delivery=dead include=headers provider= kind=x".split(" "),
])("rejects ?%s and names the parameter", async (query) => {
  const [parameter] = query.split("=");
  const { ask } = await serve();
  const problem = await jsonWith(await ask("operator", `?${query}`), 400);
  expect(itemsOf(problem["errors"])).toMatchObject([{ parameter }]);
});
