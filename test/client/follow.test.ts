import { afterEach, expect, jest, test } from "bun:test";

import { createClientFor } from "../../src/client/client.ts";
import { SkyhookError } from "../../src/client/errors.ts";
import type { FeedOptions } from "../../src/client/feed.ts";
import { endsAfterEach } from "../support/ends.ts";
import { testGateway } from "../support/gateway.ts";

const ends = endsAfterEach();
afterEach(() => void jest.useRealTimers());

/** A stream of this text, which ends then. */
const stream = (text: string) => () =>
  new Response(text, { headers: { "content-type": "text/event-stream" } });
const problem = (status: number) => () => Response.json({ code: "no" }, { status });

/** Follows the events of a server that returns these answers in turn, until the last one. */
async function followed(answers: readonly (() => Response)[], options: FeedOptions = {}) {
  const stop = new AbortController();
  const gateway = testGateway((number) => {
    if (number >= answers.length) setTimeout(() => stop.abort(), 50);
    return (answers[number - 1] ?? problem(503))();
  });
  ends.push(() => gateway.stop());
  const delays: number[] = [];
  const onLost = (_: unknown, delayMs: number) => void delays.push(delayMs);
  const client = createClientFor({ baseUrl: new URL(gateway.url).origin, maxAttempts: 1 }, []);
  const following = client.events({ onLost, signal: stop.signal, ...options });
  const messages = await Array.fromAsync(following).catch((error: unknown) => error);
  return { messages, delays, received: gateway.received };
}

test("a feed continues after the last message, and waits longer only while nothing comes", async () => {
  const { messages, delays, received } = await followed(
    [
      problem(503),
      problem(500),
      stream('id: 7\nevent: event\ndata: {"a":1}\n\nid: 8\ndata: {"cut'),
      problem(429),
      stream("id: 9\n\n"),
      stream(""),
    ],
    { lastEventId: "5" },
  );
  expect(messages).toEqual([
    { id: "7", type: "event", data: { a: 1 } },
    { id: "9", type: "position", data: {} },
  ]);
  // The message that was cut off comes again.
  expect(received.map(({ headers }) => headers["last-event-id"])).toEqual("5 5 5 7 7 9".split(" "));
  const expected = [500, 1_000, 500, 1_000, 500];
  for (const [index, most] of expected.entries()) {
    expect(delays[index]).toBeWithin(most * 0.75, most + 1);
  }
});

test("a feed waits half a minute at most", async () => {
  jest.useFakeTimers();
  const stop = new AbortController();
  const delays: number[] = [];
  const onLost = (_: unknown, delayMs: number) => {
    delays.push(delayMs);
    if (delays.length === 12) stop.abort();
    else queueMicrotask(() => jest.advanceTimersByTime(delayMs));
  };
  const fetch = async () => problem(503)();
  const client = createClientFor({ baseUrl: "http://a.invalid", maxAttempts: 1, fetch }, []);
  await Array.fromAsync(client.events({ onLost, signal: stop.signal }));
  for (const delay of delays.slice(6)) expect(delay).toBeWithin(22_500, 30_001);
});

test.each([400, 401, 403, 404])("a feed ends with an error of status %i", async (status) => {
  const { messages, received } = await followed([problem(status), stream("")]);
  expect(messages).toBeInstanceOf(SkyhookError);
  expect(messages).toMatchObject({ status, code: "no" });
  expect(received).toHaveLength(1);
});

test("a message of many chunks and lines is one, and unknown fields are ignored", async () => {
  const bytes = new TextEncoder().encode(
    ': comment\r\nretry: 5\r\nother: x\r\nid: 1\r\nevent: event\r\ndata: {"ü":\r\ndata: "😀"}\r\n\r\n',
  );
  const parts = async function* () {
    for (const byte of bytes) {
      yield Uint8Array.of(byte);
      await Bun.sleep(0);
    }
  };
  const { messages } = await followed([() => new Response(parts()), stream("")]);
  expect(messages).toEqual([{ id: "1", type: "event", data: { ü: "😀" } }]);
});

test("what a listener throws ends the feed", async () => {
  const onLost = () => {
    throw new Error("mine");
  };
  expect((await followed([problem(503), stream("")], { onLost })).messages).toEqual(
    new Error("mine"),
  );
});
