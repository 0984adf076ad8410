import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";

import { systemClock } from "../../../src/base/clock.ts";
import { signed, until } from "../../support/app.ts";
import { asOperator, deliverTo, keysListed, startIn } from "../../support/load.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "../../support/program.ts";
import { RawClient } from "../../support/raw-client.ts";
import { resources } from "../../support/resources.ts";

// Each wait has its own time limit. This is a margin for busy machines.
setDefaultTimeout(120_000);

const taken = resources();
const start = () => taken.start(taken.newFolder());

/** A signed delivery as HTTP text: head and body. */
async function rawDelivery(id: string) {
  const content = JSON.stringify({ event_name: "item:completed", event_data: { id } });
  const headers = { "x-tasktracker-delivery-id": id };
  const request = new Request(
    "http://x",
    signed("task_tracker", content, systemClock, { headers }),
  );
  const lines = [...request.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = `POST /webhooks/task_tracker HTTP/1.1\r\nHost: x\r\n${lines}`;
  return { head: `${head}Content-Length: ${content.length}\r\n\r\n`, chunkedHead: head, content };
}

/** Sends a text one byte per packet. */
async function drip(client: RawClient, text: string): Promise<void> {
  for (const byte of text) {
    client.write(byte);
    await Bun.sleep(1);
  }
}

describe("a slow client", () => {
  test("that sends byte by byte is served normally [CLIENT-1]", async () => {
    const server = await start();
    const { head, content } = await rawDelivery("slow");
    const client = await taken.connectTo(server);
    await drip(client, head + content);
    expect(await client.answer()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"accepted"/);
    const chunked = await rawDelivery("chunked");
    const chunks = chunked.content
      .split("")
      .map((byte) => `1\r\n${byte}\r\n`)
      .join("");
    client.write(`${chunked.chunkedHead}Transfer-Encoding: chunked\r\n\r\n`);
    await drip(client, `${chunks}0\r\n\r\n`);
    expect(await client.answer()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"accepted"/);
    expect(await keysListed(server)).toHaveLength(2);
  });

  test("delays no other client, even with hundreds of slow ones [CLIENT-6]", async () => {
    const server = await start();
    const { head, content } = await rawDelivery("never");
    const clients = await Promise.all(Array.from({ length: 400 }, () => taken.connectTo(server)));
    for (const [index, client] of clients.entries()) {
      client.write(index % 2 === 0 ? head.slice(0, -2) : head + content.slice(0, -1));
    }
    for (let number = 0; number < 20; number += 1)
      expect(await deliverTo(server, number)).toBe(200);
    expect((await asOperator(server, "/v1/events")).status).toBe(200);
    for (const client of clients) client[Symbol.dispose]();
    expect(await deliverTo(server, 20)).toBe(200);
    expect(await keysListed(server)).toHaveLength(21);
    expect(server.log()).not.toContain('"level":50');
  });
});

describe("a client that closes its connection", () => {
  test("for writing after a complete request may get no response, but the delivery is stored [CLIENT-7]", async () => {
    const server = await start();
    const { head, content } = await rawDelivery("half");
    const client = await taken.connectTo(server);
    client.write(head + content);
    client.halfClose();
    // Bun disconnects such a client unless the response is ready in the same turn of the event loop.
    await until(() => client.ended, 10_000);
    expect(client.received).toMatch(/^(HTTP\/1\.1 200 [\s\S]*"accepted"[\s\S]*)?$/);
    await until(async () => (await keysListed(server)).length > 0);
    const again = await taken.connectTo(server);
    again.write(head + content);
    expect(await again.answer()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"duplicate"/);
    expect(await keysListed(server)).toEqual(["task_tracker:half"]);
  });

  test("in the middle of a request is disconnected, and nothing is stored [CLIENT-8]", async () => {
    const server = await start();
    const { head, content } = await rawDelivery("half");
    for (const part of [head.slice(0, 40), head, head + content.slice(0, -1)]) {
      const client = await taken.connectTo(server);
      client.write(part);
      client.halfClose();
      await until(() => client.ended, 10_000);
      expect(client.received).not.toMatch(/^HTTP\/1\.1 [25]/);
    }
    expect(await keysListed(server)).toEqual([]);
    expect(server.log()).not.toContain('"level":50');
    const again = await taken.connectTo(server);
    again.write(head + content);
    expect(await again.answer()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"accepted"/);
  });

  test("or resets it before the response finds the delivery stored once [CLIENT-9]", async () => {
    const server = await start();
    const { head, content } = await rawDelivery("reset");
    const client = await taken.connectTo(server);
    client.write(head + content);
    await until(async () => (await keysListed(server)).length === 1);
    client[Symbol.dispose]();
    const again = await taken.connectTo(server);
    again.write(head + content);
    expect(await again.answer()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"duplicate"/);
    expect(await keysListed(server)).toEqual(["task_tracker:reset"]);
  });
});

// Mostly waits, all at the same time: on one server, since what `taken` has ends with the first of them.
describe("a client that is too slow", () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startIn(temporaryFolder());
  });
  afterAll(async () => {
    await server.kill();
    removeFolder(server.cwd);
  });
  const connect = () => RawClient.connect(server.url);

  /** Sends `more` twice a second until the server closes or `untilMs` has passed. Returns the elapsed time. */
  async function keepSending(client: RawClient, more: string, untilMs: number): Promise<number> {
    const startMs = performance.now();
    while (!client.ended && performance.now() - startMs < untilMs) {
      client.write(more);
      await Bun.sleep(500);
    }
    return performance.now() - startMs;
  }

  test.concurrent(
    "with the request head is disconnected within 20 s, even if it keeps sending [CLIENT-2]",
    async () => {
      using silent = await connect();
      using slow = await connect();
      slow.write("POST /webhooks/task_tracker HTTP/1.1\r\nHost: x\r\n");
      expect(await keepSending(slow, "X-Header: x\r\n", 30_000)).toBeLessThan(20_000);
      await until(() => silent.ended, 5_000);
    },
  );

  test.concurrent(
    "with the request body gets an error after 30 s and is then disconnected [CLIENT-3]",
    async () => {
      const { head, chunkedHead } = await rawDelivery("slow");
      const announcing = (bytes: number) =>
        head.replace(/Content-Length: \d+/, `Content-Length: ${bytes}`);
      const slowWith = async (framedHead: string, more: string) => {
        using slow = await connect();
        slow.write(framedHead);
        const tookMs = await keepSending(slow, more, 100_000);
        expect(slow.received).toMatch(/^HTTP\/1\.1 400 [\s\S]*longer than 30 s/);
        expect(tookMs).toBeGreaterThan(29_000);
        expect(tookMs).toBeLessThan(70_000);
      };
      await Promise.all([
        slowWith(announcing(5_000), " "),
        slowWith(announcing(5_000_000), " "),
        slowWith(`${chunkedHead}Transfer-Encoding: chunked\r\n\r\n`, "1\r\n \r\n"),
      ]);
      expect(await keysListed(server)).toEqual([]);
      expect(await deliverTo(server, 1)).toBe(200);
    },
  );

  test.concurrent("to reuse its connection is disconnected within 45 s [CLIENT-5]", async () => {
    using client = await connect();
    expect(await client.get("/livez")).toStartWith("HTTP/1.1 200");
    await until(() => client.ended, 45_000);
  });
});
