import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";

import { type TestApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { gatewayEnv } from "../../support/gateway.ts";
import { itemsOf, listed, timelineOf } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";

const second = 1_000;

const taken = resources();

type Answer = (socket: Socket) => void;

const send =
  (head: string, body = ""): Answer =>
  (socket) =>
    void socket.end(`HTTP/1.1 ${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);

/** A gateway on raw sockets, which can violate HTTP. Uses `answers` in turn, and then repeats the last. */
async function rawGateway(...answers: Answer[]) {
  const ids: string[] = [];
  const server = createServer((socket) => {
    let request = "";
    socket.on("error", () => {});
    socket.on("data", (data) => {
      request += data.toString();
      const [head = "", body = ""] = request.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Infinity);
      if (Buffer.byteLength(body) < length) return;
      request = "";
      const answer = answers[Math.min(ids.length, answers.length - 1)];
      ids.push(/webhook-id: (\S+)/i.exec(head)?.[1] ?? "");
      answer?.(socket);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  taken.ends.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port");
  return { url: `http://127.0.0.1:${address.port}/notify`, ids };
}

async function newest(app: TestApp): Promise<Record<string, unknown>> {
  const [notification = {}] = await listed(app, "/v1/notifications");
  return notification;
}

const tenMegabytes = "x".repeat(10_000_000);
const hourSeconds = 3_600;
/** Relative to the initial time of the tests. */
const inAnHour = new Date(manualClock().now() + hourSeconds * second).toUTCString();

interface Told {
  readonly error: unknown;
  readonly responseStatus: number | null;
}

/** What a gateway does, what the operator sees of it, and the seconds until the next attempt. */
const faults: readonly (readonly [string, Answer, Told, number])[] = [
  ["hangs", () => {}, { error: "no answer within 10 s", responseStatus: null }, 5],
  [
    "resets the connection",
    (socket) => void socket.resetAndDestroy(),
    { error: expect.stringMatching(/closed|reset/i), responseStatus: null },
    5,
  ],
  [
    "is not an HTTP server",
    (socket) => void socket.end("220 mail.example.com ESMTP\r\n"),
    { error: expect.any(String), responseStatus: null },
    5,
  ],
  [
    "disconnects in the middle of the response head",
    (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-"),
    { error: expect.any(String), responseStatus: null },
    5,
  ],
  [
    "answers 500",
    send("500 Internal Server Error", "No disk"),
    { error: "HTTP 500: No disk", responseStatus: 500 },
    5,
  ],
  [
    "answers 429 with Retry-After in seconds",
    send("429 Too Many Requests\r\nRetry-After: 3600"),
    { error: "HTTP 429", responseStatus: 429 },
    hourSeconds,
  ],
  [
    "answers 429 with Retry-After as a date",
    send(`429 Too Many Requests\r\nRetry-After: ${inAnHour}`),
    { error: "HTTP 429", responseStatus: 429 },
    hourSeconds,
  ],
  [
    "answers 301",
    send("301 Moved Permanently\r\nLocation: /elsewhere"),
    { error: "HTTP 301", responseStatus: 301 },
    5,
  ],
  [
    "answers 500 with 10 MB",
    send("500 Internal Server Error", tenMegabytes),
    { error: `HTTP 500: ${"x".repeat(200)}`, responseStatus: 500 },
    5,
  ],
  [
    "answers with response headers of 10 MB",
    send(`200 OK\r\nX-Padding: ${tenMegabytes}`),
    { error: expect.any(String), responseStatus: null },
    5,
  ],
];

describe("a gateway that", () => {
  test.each(faults)(
    "%s gets the notification again, once it works [GATEWAY-1]",
    async (name, fault, told, waitSeconds) => {
      const hungMs = name === "hangs" ? 10 * second : 0;
      const { url, ids } = await rawGateway(fault, send("204 No Content"));
      const app = await taken.app(gatewayEnv(url));
      await app.deliverSample("task_tracker", "task.completed");
      await until(() => ids.length === 1);
      app.clock.advance(hungMs);
      await until(async () => (await newest(app))["status"] === "retrying");
      const { dueAt, eventId, createdAt } = await newest(app);
      expect(Date.parse(String(dueAt)) - Date.parse(String(createdAt))).toBe(
        waitSeconds * second + hungMs,
      );
      const [{ attempts } = {}] = await timelineOf(app, eventId);
      expect(itemsOf(attempts)).toMatchObject([{ delivered: false, ...told }]);

      app.clock.advance(Date.parse(String(dueAt)) - app.clock.now());
      await until(() => {
        if (ids.length === 1) app.clock.advance(10);
        return ids.length === 2;
      });
      await until(async () => (await newest(app))["status"] === "delivered");
      expect(new Set(ids)).toEqual(new Set([String((await newest(app))["id"])]));
    },
  );
});
