import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";

import { systemClock } from "../../../src/base/clock.ts";
import { maxFailures } from "../../../src/identity/limiter.ts";
import { signed, testSecret, until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase, type TestDatabase } from "../../support/databases.ts";
import { readFeed } from "../../support/feed.ts";
import { type LoadBalancer, loadBalancer, noLoadBalancer } from "../../support/load-balancer.ts";
import { authorization, delivery, startIn } from "../../support/load.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "../../support/program.ts";
import { skips } from "../../support/skips.ts";

const skipped = noLoadBalancer ?? noManyConnections;

/** Sends one request on a new connection from a local address. Returns status and body. */
async function exchange(url: string, from: string, parts: readonly (string | Uint8Array)[]) {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), localAddress: from });
  let answer = "";
  let isOver = false;
  socket.on("data", (data) => {
    answer += data.toString("latin1");
  });
  for (const end of ["end", "close", "error"]) {
    socket.on(end, () => {
      isOver = true;
    });
  }
  for (const part of parts) socket.write(part);
  await until(() => isOver, 10_000);
  socket.destroy();
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { status: Number(head.slice(9, 12)), head, body };
}

/** The head of a request, with the signature headers of a delivery. */
function headOf(path: string, init: RequestInit, more: Readonly<Record<string, string>>): string {
  const headers = [...new Headers(init.headers), ...Object.entries(more)];
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [`POST ${path} HTTP/1.1`, "Host: x", "Connection: close", ...lines, "", ""].join("\r\n");
}

const chunk = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

describe.skipIf(skips(skipped))("two instances behind deploy/haproxy.cfg", () => {
  let database: TestDatabase;
  let balancer: LoadBalancer;
  const folder = temporaryFolder();
  const servers: RunningServer[] = [];

  beforeAll(async () => {
    database = await postgresDatabase();
    const env = {
      DATABASE_URL: database.url,
      TRUSTED_PROXY_HOPS: "1",
      CODE_HOST_WEBHOOK_SECRET: testSecret("code_host"),
    };
    const one = await startIn(folder, env);
    const two = await startIn(folder, env);
    servers.push(one, two);
    balancer = await loadBalancer(one, two);
  });
  afterAll(async () => {
    await balancer.stop();
    await Promise.all(servers.map((server) => server.kill()));
    await database[Symbol.asyncDispose]();
    removeFolder(folder);
  });

  async function storedBody(key: string): Promise<unknown> {
    const [row] = await database.run(
      `select encode(body, 'hex') as body from events where idempotency_key = '${key}'`,
    );
    return row?.["body"];
  }

  test("verify and store unchanged a chunked body with unusual white space, a byte order mark and an emoji", async () => {
    const body = Buffer.from(
      '\ufeff{ \t"event_name" :\r\n\r\n"item:completed" , "event_data":{"id":"1","content":"\u00e9t\u00e9 🛫"}}\n \t\n',
    );
    const init = signed("task_tracker", body, systemClock, {
      headers: { "x-tasktracker-delivery-id": "odd" },
    });
    const head = headOf("/webhooks/task_tracker", init, { "transfer-encoding": "chunked" });
    // One chunk ends in the middle of the emoji.
    const cuts = [0, 1, 3, 17, body.indexOf("🛫") + 2, body.length];
    const chunks = cuts.slice(1).map((cut, index) => chunk(body.subarray(cuts[index], cut)));
    const parts = [head, ...chunks, "0\r\n\r\n"];
    const { status } = await exchange(balancer.url, "127.0.0.1", parts);
    expect(status).toBe(200);
    expect(await storedBody("task_tracker:odd")).toBe(body.toString("hex"));
  });

  test("pass a body of 8 MB; Skyhook rejects one beyond its limit", async () => {
    const post = (bytes: number, id: string) =>
      fetch(`${balancer.url}/webhooks/code_host`, {
        ...signed("code_host", JSON.stringify({ padding: "x".repeat(bytes) }), systemClock, {
          headers: { "x-codehost-delivery": id, "x-codehost-event": "ping" },
        }),
      });
    expect((await post(8e6, crypto.randomUUID())).status).toBe(200);
    // The connection is closed after that response, and a client that is still sending may not read it.
    const tooLarge = await post(27e6, crypto.randomUUID()).then(
      ({ status }) => status,
      () => "cut off",
    );
    expect([413, "cut off"]).toContain(tooLarge);
  });

  test("send feed messages immediately, for deliveries to either instance", async () => {
    const response = await fetch(`${balancer.url}/v1/feed`, {
      headers: { authorization: await authorization("operator") },
    });
    const feed = readFeed(response);
    for (let number = 1; number <= 4; number += 1) {
      const server = servers[number % 2];
      const sent = await fetch(`${server?.url}/webhooks/task_tracker`, delivery(number));
      expect(sent.status).toBe(200);
      // A buffering proxy would block here: nothing more is sent until this message has arrived.
      expect((await feed.next()).data["title"]).toContain(`Task ${number}`);
    }
    await feed.close();
  });

  test("count failures by the client's real address, and ignore headers that it sends", async () => {
    const guess = (from: string, forged: string) =>
      exchange(balancer.url, from, [
        headOf("/webhooks/task_tracker", {}, { "content-length": "2", "x-forwarded-for": forged }),
        "{}",
      ]);
    // Each instance has its own count, so together they allow at most twice as many.
    const most = maxFailures * servers.length;
    const statuses: number[] = [];
    while (statuses.length < most + 5) {
      statuses.push((await guess("127.0.0.8", `10.0.0.${statuses.length}`)).status);
    }
    const failures = statuses.filter((status) => status === 401);
    expect(failures.length).toBeGreaterThanOrEqual(maxFailures);
    expect(failures.length).toBeLessThanOrEqual(most);
    expect(statuses.slice(-5)).toEqual([429, 429, 429, 429, 429]);
    expect((await guess("127.0.0.9", "127.0.0.8")).status).toBe(401);
  });

  test("answer every request while one instance stops", async () => {
    const [one, two] = servers;
    let isOver = false;
    let last = 100;
    const statuses: number[] = [];
    const work = async () => {
      while (!isOver) {
        const sent = await fetch(`${balancer.url}/webhooks/task_tracker`, delivery(++last));
        await sent.arrayBuffer();
        statuses.push(sent.status);
      }
    };
    const loading = Promise.all(Array.from({ length: 4 }, work));
    await until(() => statuses.length > 50);
    expect(await one?.stop()).toBe(0);
    const atStop = statuses.length;
    await until(() => statuses.length > atStop + 50);
    isOver = true;
    await loading;
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect((await fetch(`${two?.url}/readyz`)).status).toBe(200);
  });

  test.each([
    ["/metrics", 404],
    ["/metrics?x", 404],
    ["http://x/metrics", 404],
    ["/./metrics", 400],
    ["/x/../metrics", 400],
    ["/%2e/metrics", 400],
    ["/x/%2E%2e/metrics", 400],
    ["/x\\..\\metrics", 400],
    ["/docs/..\\metrics", 400],
    ["http://x/./metrics", 400],
    ["//metrics", 404],
    ["/metrics/.", 404],
    ["/metrics;x", 404],
    ["/%6detrics", 404],
  ])("do not expose metrics at %s", async (target, expected) => {
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const { status, body } = await exchange(balancer.url, "127.0.0.1", [request]);
    expect(body).not.toContain("# HELP");
    expect(status).toBe(expected);
  });

  test.each(["x/metrics?", "x/metrics", "x\\metrics?", "x#", "[::bad"])(
    "do not expose metrics with Host: %s",
    async (host) => {
      const request = `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      expect((await exchange(balancer.url, "127.0.0.1", [request])).status).toBeOneOf([400, 404]);
    },
  );
});
