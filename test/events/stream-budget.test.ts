// It takes some seconds: bodies of 5 MB are read until they exceed the memory for unread responses.
import { describe, expect, test } from "bun:test";

import { makeId } from "../../src/base/ids.ts";
import { type EventStreams, eventStreams } from "../../src/events/event-streams.ts";
import { audit } from "../../src/identity/audit/audit.ts";
import { writeLimiter } from "../../src/identity/limiter.ts";
import { eventFeed } from "../../src/outbound/notifications/event-feed.ts";
import { json, startApp, until } from "../support/app.ts";
import { endsAfterEach } from "../support/ends.ts";
import { contextOf } from "../support/operator.ts";

const ends = endsAfterEach();

const bodyBytes = 100_000;

/** An app with two events of this size, and streams that may hold two of their bodies at a time. */
async function withStreams() {
  // Reads of SQLite end in the order of the requests, so the order of the streams is known.
  const app = await startApp({ DATABASE_URL: "sqlite::memory:" });
  const { storage } = app.services;
  const { clock } = app;
  const feed = eventFeed(storage, clock, () => {});
  ends.push(async () => {
    feed.close();
    await app.stop();
  });
  for (const id of ["1", "2"]) {
    const event = { event_name: "item:completed", event_data: { id, content: "" }, pad: "" };
    const pad = "x".repeat(bodyBytes - JSON.stringify(event).length);
    expect((await app.deliver("task_tracker", JSON.stringify({ ...event, pad }))).status).toBe(200);
    clock.advance(100);
  }
  const streams = eventStreams({
    storage,
    eventFeed: feed,
    index: { has: () => Promise.resolve(true) },
    checkProvider: () => Promise.resolve(),
    audit: audit(storage, clock, makeId, writeLimiter(clock)),
    clock,
    maxUnreadBytes: 2 * bodyBytes,
  });
  return { app, streams };
}

/** A stream with bodies, past its first position. */
async function opened(streams: EventStreams, from = new Date(0)) {
  const state = { overdue: 0 };
  const items = await streams.open(contextOf("operator", "operator"), {
    match: { from },
    afterSeq: null,
    withBody: true,
    onOverdue() {
      state.overdue += 1;
      void items.return?.();
    },
  });
  ends.push(() => items.return?.());
  await items.next();
  return { items, state };
}

/** The next event of a stream, and whether it has come. */
function nextOf({ items }: Awaited<ReturnType<typeof opened>>) {
  const state = { done: false, event: items.next() };
  void state.event.then(() => (state.done = true));
  return state;
}

/** Longer than a read takes that does not wait for another stream. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("streams with bodies", () => {
  test("read no more bodies than fit into the memory they share, in the order of their requests [API4-23]", async () => {
    const { streams } = await withStreams();
    const [one, two, three, four] = [
      await opened(streams),
      await opened(streams),
      await opened(streams),
      await opened(streams),
    ];
    const first = [nextOf(one), nextOf(two)];
    await until(() => first.every(({ done }) => done));
    const third = nextOf(three);
    await settle();
    const fourth = nextOf(four);
    await settle();
    expect([third.done, fourth.done]).toEqual([false, false]);
    // The first one has read its body, and asks for the next, behind the others.
    const second = nextOf(one);
    await until(() => third.done);
    await settle();
    expect([fourth.done, second.done]).toEqual([false, false]);
    // A client that disconnects frees its memory, or its place in the queue.
    await two.items.return?.();
    await until(() => fourth.done);
    await three.items.return?.();
    await until(() => second.done);
    expect((await second.event).value?.event?.subject).toBeDefined();
    expect([one, two, three, four].map(({ state }) => state.overdue)).toEqual([0, 0, 0, 0]);
  });

  test("end where a client does not read for 10 s while others wait", async () => {
    const { app, streams } = await withStreams();
    const all = [await opened(streams), await opened(streams)];
    const first = all.map(nextOf);
    await until(() => first.every(({ done }) => done));
    // No stream waits.
    app.clock.advance(60_000);
    await settle();
    expect(all.map(({ state }) => state.overdue)).toEqual([0, 0]);
    const third = nextOf(await opened(streams));
    await until(() => {
      app.clock.advance(1);
      return third.done;
    });
    expect(all.map(({ state }) => state.overdue)).toEqual([1, 0]);
  });

  test("do not wait for small bodies", async () => {
    const { app, streams } = await withStreams();
    const from = new Date(app.clock.now());
    const body = JSON.stringify({ event_name: "item:completed", event_data: { id: "3" } });
    expect((await app.deliver("task_tracker", body)).status).toBe(200);
    const busy = [await opened(streams), await opened(streams)].map(nextOf);
    await until(() => busy.every(({ done }) => done));
    const small = await opened(streams, from);
    expect((await small.items.next()).value?.event).toMatchObject({ body });
  });
});

describe("an event with a large body", () => {
  test("is read like a small one, any number of times", async () => {
    const app = await startApp({}, undefined, { isDocumented: false });
    ends.push(() => app.stop());
    const read = async (padding: number) => {
      const body = JSON.stringify({ event_name: "item:completed", padding: "x".repeat(padding) });
      const { id } = await json(await app.deliver("task_tracker", body));
      const response = await app.as("operator", `/v1/events/${String(id)}`);
      return { id: String(id), body, response, event: await json(response) };
    };
    const [small, large] = [await read(10), await read(4_900_000)];
    for (const { response, body, event } of [small, large]) {
      expect(response.status).toBe(200);
      expect(event["body"]).toBe(body);
    }
    const headersOf = ({ headers }: Response) =>
      [...headers.keys()].filter((name) => name !== "content-length");
    expect(headersOf(large.response).toSorted()).toEqual(headersOf(small.response).toSorted());
    expect(Object.keys(large.event)).toEqual(Object.keys(small.event));
    // Together larger than the memory that all unread responses may take.
    for (let times = 0; times < 14; times += 1) {
      const again = await app.as("operator", `/v1/events/${large.id}`);
      expect((await again.bytes()).length).toBeGreaterThan(4_900_000);
    }
  });

  test("is read in turns, by HEAD too, and not for a client that disconnects while it waits", async () => {
    const app = await startApp({}, undefined, { isDocumented: false });
    ends.push(() => app.stop());
    // As `skyhook serve` does.
    app.app.listen({ port: 0, hostname: "127.0.0.1", reusePort: false });
    ends.push(() => app.app.server?.stop(true));
    const body = JSON.stringify({ event_name: "item:completed", pad: "x".repeat(4_900_000) });
    const { id } = await json(await app.deliver("task_tracker", body));
    const path = `/v1/events/${String(id)}`;
    const bearer = await app.services.tokens.mint({ id: "operator", roles: ["operator"] }, 3_600);
    const url = `http://127.0.0.1:${app.app.server?.port}${path}`;
    const init = { method: "HEAD", headers: { authorization: `Bearer ${bearer}` } };
    // Together larger than the memory that all unread responses may take.
    const heads = Array.from({ length: 16 }, () => fetch(url, init));
    let answered = 0;
    for (const head of heads) void head.then(() => (answered += 1));
    const seen = new Set<number>();
    await until(() => {
      seen.add(answered);
      return answered === heads.length;
    });
    expect((await Promise.all(heads)).map(({ status }) => status)).toEqual(heads.map(() => 200));
    // All in one turn would leave others no turn in between.
    expect(seen.size).toBeGreaterThan(5);
    // No client reads them, so they take all the memory.
    const unread: Response[] = [];
    for (let times = 0; times < 13; times += 1) unread.push(await app.as("operator", path));
    const abort = new AbortController();
    const waiting = app.as("operator", path, { signal: abort.signal });
    await settle();
    abort.abort();
    expect((await waiting).status).toBe(400);
    for (const response of unread) await response.body?.cancel();
  });
});
