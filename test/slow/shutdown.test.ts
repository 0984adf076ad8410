import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";

import { json, startApp, until } from "../support/app.ts";
import {
  asOperator,
  databaseIn,
  deliverTo,
  delivery,
  keepDelivering,
  keyOf,
} from "../support/load.ts";
import type { RunningServer } from "../support/program.ts";
import { resources } from "../support/resources.ts";

const taken = resources();
const newFolder = () => taken.newFolder();
const start = (...args: Parameters<typeof taken.start>) => taken.start(...args);

/** The idempotency keys in a database file, without the program. */
function keysIn(file: string): string[] {
  using database = new Database(file);
  const keys = database.query("select idempotency_key from events order by 1").values();
  return keys.flat().map(String);
}

describe("SIGTERM", () => {
  test("under load: answers what is under way, loses nothing, ends streams, exits 0", async () => {
    const folder = newFolder();
    const server = await start(folder);
    const feed = await asOperator(server, "/v1/feed");
    expect(feed.status).toBe(200);
    // The log follows the feed as well, and is not counted.
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
    await until(async () => (await metrics()).includes("\nskyhook_feed_subscribers 1\n"));
    const slow = await halfSent(server, 1_000_000);
    const { acknowledged, statuses, end } = keepDelivering(server, 16);
    await until(() => acknowledged.size >= 500);
    const exited = server.stop();
    await until(() => server.log().includes("SIGTERM: stopping"));
    const answer = await slow.finish();
    expect(answer).toStartWith("HTTP/1.1 200 ");
    expect(await exited).toBe(0);
    await end();
    expect(await feed.text()).toContain("retry: 2000");
    expect([...statuses].filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
    const stored = keysIn(databaseIn(folder));
    expect(stored).toContain(keyOf(1_000_000));
    expect([...acknowledged].map(keyOf).filter((key) => !stored.includes(key))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
    await server.printed('"msg":"stopped"');
  });

  test("is told to load balancers by /readyz, while what still comes is served", async () => {
    const app = await startApp();
    expect((await app.fetch("/readyz")).status).toBe(200);
    app.services.drain();
    const draining = await app.fetch("/readyz");
    expect(draining.status).toBe(503);
    expect(await json(draining)).toMatchObject({ detail: "The service is draining" });
    expect((await app.fetch("/livez")).status).toBe(200);
    expect((await app.deliverSample("task_tracker", "task.completed")).status).toBe(200);
    await app.stop();
  });

  test("is seen by load balancers as 503 on new connections, while a request is in flight and for a second", async () => {
    const server = await start(newFolder());
    const health = async (path: string) => (await fetch(server.url + path, fresh)).status;
    const fresh = { headers: { connection: "close" } };
    expect(await health("/readyz")).toBe(200);
    const slow = await halfSent(server, 1);
    const startedMs = performance.now();
    const exited = server.stop();
    await until(() => server.log().includes("SIGTERM: stopping"));
    const seen: number[] = [];
    while (performance.now() - startedMs < 2_000) seen.push(await health("/readyz"));
    expect(new Set(seen)).toEqual(new Set([503]));
    expect(await health("/livez")).toBe(200);
    expect(await slow.finish()).toStartWith("HTTP/1.1 200 ");
    expect(await exited).toBe(0);
    // Nothing in flight: long enough for a check each second, and no longer.
    const idle = await start(newFolder());
    const idleMs = performance.now();
    const stopped = idle.stop();
    await until(() => idle.log().includes("SIGTERM: stopping"));
    expect((await fetch(`${idle.url}/readyz`, fresh)).status).toBe(503);
    expect(await stopped).toBe(0);
    expect(performance.now() - idleMs).toBeWithin(1_000, 4_000);
  });

  test("does not wait for a client that never ends its request", async () => {
    const folder = newFolder();
    const server = await start(folder);
    expect(await deliverTo(server, 1)).toBe(200);
    await halfSent(server, 2);
    const startMs = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - startMs).toBeLessThan(10_000);
    expect(keysIn(databaseIn(folder))).toEqual([keyOf(1)]);
  });
});

/** A delivery of which only half has been sent, and what sends the rest and reads all that comes. */
async function halfSent({ url }: RunningServer, number: number) {
  const { headers, body } = delivery(number);
  if (!(body instanceof Uint8Array)) throw new Error("A delivery has bytes");
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  taken.ends.push(() => socket.destroy());
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString()));
  const fields = [...new Headers(headers), ["host", "localhost"], ["content-length", body.length]];
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const half = Math.floor(body.length / 2);
  socket.write(`POST /webhooks/task_tracker HTTP/1.1\r\n${head}\r\n`);
  await new Promise((resolve) => socket.write(body.subarray(0, half), resolve));
  // Answered later than what came before it was read.
  await (await fetch(`${url}/livez`)).text();
  return {
    async finish(): Promise<string> {
      const closed = once(socket, "close");
      socket.write(body.subarray(half));
      await closed;
      return received;
    },
  };
}
