import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";

import { systemClock } from "../../../../src/base/clock.ts";
import { reservation } from "../../../../src/web/body-budget.ts";
import { readBytes } from "../../../../src/web/body.ts";
import { signed, startApp, testSecret } from "../../../support/app.ts";
import { authorization, deliverTo } from "../../../support/load.ts";
import type { RunningServer } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";

// Each wait has its own time limit. This one allows for a busy machine.
setDefaultTimeout(120_000);

const taken = resources();
const start = () =>
  taken.start(taken.newFolder(), { CODE_HOST_WEBHOOK_SECRET: testSecret("code_host") });

const mebibyte = 2 ** 20;
const head = (path: string, ...lines: readonly string[]) =>
  `POST ${path} HTTP/1.1\r\n${["Host: x", ...lines].join("\r\n")}\r\n\r\n`;
const contentLength = (bytes: number | string) => `Content-Length: ${bytes}`;

describe("a malformed Content-Length", () => {
  const values = [
    "5\r\nContent-Length: 5",
    "5\r\nContent-Length: 6",
    "5, 5",
    "5,5",
    "+5",
    "05",
    "0x5",
    "5.0",
    "5e0",
    "-5",
    "",
    "99999999999999999999",
    "5\r\nTransfer-Encoding: chunked",
  ];

  test("is 400 on every route that reads a body [API4-2]", async () => {
    const server = await start();
    const type = "Content-Type: application/json";
    const bearer = `Authorization: ${await authorization("user")}`;
    for (const path of ["/v1/users", "/v1/auth/token", "/graphql", "/webhooks/task_tracker"]) {
      for (const value of values) {
        using client = await taken.connectTo(server);
        client.write(`${head(path, type, bearer, contentLength(value))}hello`);
        const answer = await client.answer();
        expect([path, value, answer.split("\r\n")[0]]).toEqual([
          path,
          value,
          "HTTP/1.1 400 Bad Request",
        ]);
      }
      using client = await taken.connectTo(server);
      client.write(`${head(path, type, bearer, contentLength("  5 "))}hello`);
      expect(await client.answer()).not.toContain("Content-Length must be");
    }
  });

  test("is 400 and does not disable the memory limit", async () => {
    const server = await start();
    const twice = contentLength(`70000000\r\n${contentLength(70_000_000)}`);
    for (const path of ["/webhooks/code_host", "/webhooks/task_tracker"]) {
      const client = await taken.connectTo(server);
      client.write(head(path, twice));
      expect(await client.answer()).toMatch(/ 400 [\s\S]*"code":"bad-request"/);
    }
    // The limit still applies: bodies that exceed it are rejected.
    const holders = await Promise.all(
      Array.from({ length: 4 }, () => holdBody(server, 24 * mebibyte)),
    );
    expect(holders.filter((answer) => / 503 /.test(answer)).length).toBeGreaterThan(0);
    expect(await deliverTo(server, 1)).toBe(200);
  });
});

/** Sends `bytes` of a body of 25 MiB and withholds the rest. Returns the response so far, if any. */
async function holdBody(server: RunningServer, bytes: number, from?: string): Promise<string> {
  const client = await taken.connectTo(server, from);
  client.write(head("/webhooks/code_host", contentLength(25 * mebibyte)));
  const piece = "x".repeat(mebibyte);
  for (let sent = 0; sent < bytes && client.received === ""; sent += mebibyte) {
    await client.send(piece);
  }
  await Bun.sleep(500);
  return client.received;
}

describe("bodies that are being received", () => {
  test("count only received bytes: 50 bodies with nothing but a Content-Length block no one [API4-3]", async () => {
    const server = await start();
    for (let count = 0; count < 50; count += 1) {
      const [path, size] =
        count % 2 === 0 ? (["code_host", 25] as const) : (["task_tracker", 5] as const);
      const client = await taken.connectTo(server);
      client.write(`${head(`/webhooks/${path}`, contentLength(size * mebibyte))}x`);
    }
    // More than is left of this client's limit if two of the bodies count in full.
    expect(await deliverTo(server, 1, 4.75 * mebibyte)).toBe(200);
  });

  test("of one client have a limit that leaves memory for other clients [API4-4]", async () => {
    const server = await start();
    const answers = [];
    for (let count = 0; count < 4; count += 1) {
      answers.push(await holdBody(server, 24 * mebibyte, "127.0.0.2"));
    }
    expect(answers.filter((answer) => answer === "")).toHaveLength(2);
    expect(answers.filter((answer) => / 503 [\s\S]*"unavailable"/.test(answer))).toHaveLength(2);
    expect(await deliverTo(server, 1, 4 * mebibyte)).toBe(200);
    // Small bodies are always read.
    const small = await taken.connectTo(server, "127.0.0.2");
    small.write(`${head("/webhooks/code_host", contentLength(2))}{}`);
    expect(await small.answer()).toMatch(/ 401 /);
  });

  test("release their memory even if the client disconnects", async () => {
    const server = await start();
    for (let round = 0; round < 2; round += 1) {
      const clients = await Promise.all([1, 2].map(() => taken.connectTo(server, "127.0.0.2")));
      for (const client of clients) {
        client.write(head("/webhooks/code_host", contentLength(25 * mebibyte)));
        await client.send("x".repeat(24 * mebibyte));
        client[Symbol.dispose]();
      }
      await Bun.sleep(500);
    }
    const last = await taken.connectTo(server, "127.0.0.2");
    last.write(head("/webhooks/code_host", contentLength(20 * mebibyte)));
    await last.send("x".repeat(20 * mebibyte));
    expect(await last.answer()).toMatch(/ 401 /);
  });

  test("end after a pause of 10 s [CLIENT-4]", async () => {
    const server = await start();
    const announced = await taken.connectTo(server);
    announced.write(`${head("/webhooks/code_host", contentLength(mebibyte))}x`);
    const chunked = await taken.connectTo(server);
    chunked.write(`${head("/webhooks/code_host", "Transfer-Encoding: chunked")}1\r\nx\r\n`);
    for (const client of [announced, chunked]) {
      expect(await client.answer(20_000)).toMatch(/ 400 [\s\S]*paused for more than 10 s/);
    }
  });

  test("are rejected if the client closes the connection early", async () => {
    const server = await start();
    for (const lines of [contentLength(mebibyte), "Transfer-Encoding: chunked"]) {
      const client = await taken.connectTo(server);
      client.write(`${head("/webhooks/code_host", lines)}5\r\nhello\r\n`);
      client.halfClose();
      await Bun.sleep(300);
      expect(client.received).not.toMatch(/ 2\d\d /);
    }
    expect(server.log()).not.toContain('"level":50');
    expect(await deliverTo(server, 1)).toBe(200);
  });
});

describe("a chunked body", () => {
  test("is read completely, whatever its chunk sizes", async () => {
    const server = await start();
    const content = JSON.stringify({ event_name: "item:completed", x: "é".repeat(150_000) });
    const bytes = Buffer.from(content).toString("latin1");
    for (const size of [1, 7, 4_096, 70_000, bytes.length]) {
      const id = { "x-tasktracker-delivery-id": `of-${size}` };
      const request = signed("task_tracker", content, systemClock, { headers: id });
      const lines = [...new Headers(request.headers)].map(([name, value]) => `${name}: ${value}`);
      const client = await taken.connectTo(server);
      client.write(head("/webhooks/task_tracker", "Transfer-Encoding: chunked", ...lines));
      await client.send(chunked(bytes, size));
      expect([size, await client.answer()]).toEqual([size, expect.stringMatching(/ 200 /)]);
    }
  });

  test("larger than the limit is 413", async () => {
    const server = await start();
    const client = await taken.connectTo(server);
    client.write(head("/webhooks/task_tracker", "Transfer-Encoding: chunked"));
    await client.send(chunked("x".repeat(5 * mebibyte + 1), 65_536));
    expect(await client.answer()).toMatch(/ 413 [\s\S]*"body-too-large"/);
  });

  test("of single-byte chunks uses little memory and does not block other requests [API4-5]", async () => {
    const server = await start();
    const client = await taken.connectTo(server);
    client.write(head("/webhooks/code_host", "Transfer-Encoding: chunked"));
    const before = peakMebibytes(server);
    const block = "1\r\nx\r\n".repeat(10_000);
    let waits = 0;
    for (let sent = 0; sent < 4_000_000; sent += 10_000) {
      await client.send(block);
      if (sent % 1_000_000 !== 0) continue;
      expect((await fetch(`${server.url}/livez`)).status).toBe(200);
      waits += 1;
    }
    client.write("0\r\n\r\n");
    expect(await client.answer(60_000)).toMatch(/ 401 /);
    expect(waits).toBe(4);
    // With one object per chunk, 4 MB of body would use 350 MB.
    expect(peakMebibytes(server) - before).toBeLessThan(100);
  });

  test("that no route reads uses no memory [API4-6]", async () => {
    const server = await start();
    const before = peakMebibytes(server);
    const framings = [contentLength(64 * mebibyte), "Transfer-Encoding: chunked"];
    for (const [path, status] of [
      ["/nowhere", 404] as const,
      ["/livez", 405] as const,
      ["/v1/users", 401] as const,
      ["/webhooks/nobody", 404] as const,
    ]) {
      for (const framing of framings) {
        const client = await taken.connectTo(server);
        client.write(head(path, framing, "Content-Type: application/json"));
        const piece = "x".repeat(mebibyte);
        const text = framing === framings[0] ? piece : chunked(piece, mebibyte).slice(0, -5);
        for (let sent = 0; sent < 64 && !client.ended; sent += 1) await client.send(text);
        expect(await client.answer()).toStartWith(`HTTP/1.1 ${status} `);
      }
    }
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    expect(peakMebibytes(server) - before).toBeLessThan(100);
  });

  const chunked = (bytes: string, size: number) =>
    `${bytes
      .match(new RegExp(`[^]{1,${size}}`, "g"))
      ?.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
      .join("")}0\r\n\r\n`;

  /** The peak memory of the server. */
  function peakMebibytes({ pid }: RunningServer): number {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  }
});

describe("the memory limit for bodies", () => {
  test.each([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY])("rejects the size %p", (bytes) => {
    const memory = reservation("192.0.2.1");
    expect(() => memory.grow(bytes)).toThrow(RangeError);
    memory.grow(mebibyte);
    memory.release();
  });

  test("counts IPv6 addresses by /64", () => {
    const all = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(reservation);
    const [first, neighbour, stranger] = all;
    first?.grow(40 * mebibyte);
    expect(() => neighbour?.grow(40 * mebibyte)).toThrow("Too many large bodies");
    stranger?.grow(40 * mebibyte);
    for (const each of all) each.release();
    neighbour?.grow(40 * mebibyte);
    neighbour?.release();
  });

  test.each([
    ["/graphql", 200],
    ["/v1/users", 400],
    ["/v1/api/bookings", 422],
  ])("counts bodies of %s by the client behind the trusted proxy", async (path, status) => {
    const app = await startApp({ TRUSTED_PROXY_HOPS: "1" });
    const post = async (address: string, bytes: number) => {
      const extensions = { x: "x".repeat(bytes) };
      const body = JSON.stringify({ query: "{ __typename }", extensions });
      const headers = {
        "content-type": "application/json",
        "content-length": String(body.length),
        "x-forwarded-for": address,
      };
      return (await app.as("user", path, { method: "POST", body, headers })).status;
    };
    const memory = reservation("192.0.2.1");
    memory.grow(64 * mebibyte);
    try {
      expect(await post("192.0.2.1", 70 * 1024)).toBe(503);
      expect(await post("192.0.2.2", 70 * 1024)).toBe(status);
      // Small bodies do not count.
      expect(await post("192.0.2.1", 1)).toBe(status);
    } finally {
      memory.release();
      await app.stop();
    }
  });

  test("releases the memory of rejected bodies", async () => {
    for (let count = 0; count < 20; count += 1) {
      const body = new Uint8Array(6 * mebibyte);
      const request = new Request("http://x", { method: "POST", body: new Blob([body]).stream() });
      const reading = Promise.try(readBytes, request, 5 * mebibyte, "192.0.2.1");
      const error = await reading.catch((it: unknown) => it);
      expect(error).toMatchObject({ code: "body-too-large" });
    }
    const memory = reservation("192.0.2.1");
    memory.grow(64 * mebibyte);
    memory.release();
  });
});
