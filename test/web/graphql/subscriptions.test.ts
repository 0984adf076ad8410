import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import { createApp } from "../../../src/app.ts";
import { flightsByIds } from "../../../src/booking/flights/flights.sql.ts";
import { problems } from "../../../src/web/problems.ts";
import { startApp, type TestApp, until } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { at } from "../../support/graphql.ts";
import { watchReads } from "../../support/watched-reads.ts";

const seats = `subscription ($id: Int!) {
  seatsChanged(flightId: $id) { flightId seatsAvailable flight { flightNumber seatsAvailable } }
}`;

/** An open stream with the messages received so far. */
interface Stream {
  readonly response: Response;
  readonly messages: { readonly event: string; readonly data: unknown }[];
  readonly ended: () => boolean;
  close(): Promise<void>;
}

let app: TestApp;
let server: ReturnType<typeof createApp>;
let url: string;
const open: Stream[] = [];
beforeEach(async () => {
  app = await startApp();
  // Over a real socket, to test disconnects and slow readers.
  server = createApp(app.services).listen({ port: 0, hostname: "127.0.0.1", idleTimeout: 30 });
  url = new URL("/graphql", server.server?.url).href;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((stream) => stream.close()));
  await server.stop(true);
  await app.stop();
});

async function follow(
  variables: { readonly id: number },
  {
    role = "operator",
    ttlSeconds = 3_600,
  }: { role?: "operator" | "user" | null; ttlSeconds?: number } = {},
): Promise<Stream> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "text/event-stream",
  };
  if (role !== null) {
    const token = await app.services.tokens.mint({ id: "test", roles: [role] }, ttlSeconds);
    headers["authorization"] = `Bearer ${token}`;
  }
  const gone = new AbortController();
  const response = await fetch(url, {
    method: "POST",
    headers,
    body: JSON.stringify({ query: seats, variables }),
    signal: gone.signal,
    // Of this process, another server may have had this port before, to which a connection is kept.
    keepalive: false,
  });
  const messages: Stream["messages"] = [];
  let ended = false;
  const reading = read(response, messages)
    .catch(() => {})
    .finally(() => (ended = true));
  const stream: Stream = {
    response,
    messages,
    ended: () => ended,
    async close() {
      gone.abort();
      await reading;
    },
  };
  open.push(stream);
  return stream;
}

async function read(response: Response, messages: Stream["messages"]): Promise<void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const [, event] = /^event: ?(.*)$/m.exec(part) ?? [];
      const [, data = ""] = /^data: ?(.*)$/m.exec(part) ?? [];
      if (event === undefined) continue;
      const value: unknown = data === "" ? null : JSON.parse(data);
      messages.push({ event, data: value });
    }
  }
}

const book = (flightId: number, passengers = 1) =>
  app.as("user", "/v1/api/bookings", post(bookingBody(flightId, passengers)), "ada");
/** Waits for messages. Advances the clock, because changes in quick succession are sent as one. */
const untilReceived = (stream: Stream, count: number) =>
  until(() => {
    app.clock.advance(20);
    return stream.messages.length >= count;
  });

describe("a subscription", () => {
  test("to seatsChanged sends the changes of one flight only", async () => {
    const [{ id }, other] = [await addFlight(app), await addFlight(app, { flightNumber: "SK2" })];
    const stream = await follow({ id }, { role: "user" });
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get("content-type")).toBe("text/event-stream");
    await book(other.id);
    const booked: unknown = await (await book(id, 2)).json();
    await untilReceived(stream, 1);
    const bookingId = String(at(booked, "bookingId"));
    await app.as("user", `/v1/api/bookings/${bookingId}`, { method: "DELETE" }, "ada");
    await untilReceived(stream, 2);
    const change = (seatsAvailable: number) => ({
      event: "next",
      data: {
        data: {
          seatsChanged: {
            flightId: id,
            seatsAvailable,
            flight: { flightNumber: "SK100", seatsAvailable },
          },
        },
      },
    });
    expect(stream.messages).toEqual([change(8), change(10)]);
  });

  test.each([
    ["to an unknown flight", "user", "flight-not-found"],
    ["without a token", null, "authentication-required"],
  ] as const)("is rejected: %s", async (_, role, code) => {
    const stream = await follow({ id: 99 }, { role });
    await until(stream.ended);
    const extensions = at(stream.messages[0]?.data, "errors", 0, "extensions");
    expect(extensions).toMatchObject({ code, status: problems[code].status });
    expect(stream.messages.at(-1)?.event).toBe("complete");
  });

  test("ends 30 s after its token expired, when the token is no longer accepted", async () => {
    const { id } = await addFlight(app);
    const stream = await follow({ id }, { ttlSeconds: 60 });
    await Bun.sleep(20);
    app.clock.advance(89_000);
    expect(stream.ended()).toBe(false);
    app.clock.advance(1_001);
    await until(stream.ended);
    expect(stream.messages).toEqual([{ event: "complete", data: null }]);
  });

  test("ends when the server stops", async () => {
    const { id } = await addFlight(app);
    const stream = await follow({ id });
    await Bun.sleep(20);
    app.services.drain();
    await until(stream.ended);
  });

  test("costs nothing after its client has disconnected", async () => {
    const { id } = await addFlight(app);
    const stream = await follow({ id });
    await stream.close();
    let reads = 0;
    watchReads(app.services.storage, (statement) => (reads += statement === flightsByIds ? 1 : 0));
    // The server notices each disconnect on its own; once it has, a change reads no seats.
    await until(async () => {
      reads = 0;
      app.services.seats.changed(id);
      app.clock.advance(100);
      await Bun.sleep(10);
      return reads === 0;
    });
  });

  test("skips outdated seat numbers for a slow reader", async () => {
    const { id } = await addFlight(app, { seats: 500 });
    const over = new AbortController();
    const slow = app.services.seats.follow(id, over.signal);
    for (let count = 0; count < 300; count += 1) {
      await book(id);
      app.clock.advance(20);
    }
    await until(async () => {
      app.clock.advance(20);
      const { value } = await slow.next();
      return value?.seatsAvailable === 200;
    });
    over.abort();
    expect(await slow.next()).toEqual({ done: true, value: undefined });
  });
});
