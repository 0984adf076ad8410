import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

import { createLog } from "../../src/telemetry/log.ts";
import { json, startApp, until } from "../support/app.ts";
import { addFlight, bookingBody, passenger, post, seatsLeft } from "../support/flights.ts";
import { ask, postQuery } from "../support/graphql.ts";
import { listed } from "../support/operator.ts";
import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../support/program.ts";
import { appPerTest } from "../support/running-app.ts";

const bookings = "/v1/api/bookings";

describe("fields that clients must not set", () => {
  const app = appPerTest();

  test("of a booking are ignored: owner, price, status, id and times [API3-1]", async () => {
    const { id } = await addFlight(app);
    const forged = {
      id: "bk_1",
      bookingId: "bk_1",
      userId: "victim",
      status: "cancelled",
      totalPrice: 0.01,
      totalMinor: 1,
      seats: 0,
      createdAt: "2000-01-01T00:00:00.000Z",
      roles: ["admin"],
    };
    const text = JSON.stringify({ ...bookingBody(id), ...forged });
    const body = text.replace("{", '{"__proto__":{"roles":["admin"]},"constructor":{"x":1},');
    const made = await json(await app.as("user", bookings, post(body), "mallory"));
    expect(made).toMatchObject({ status: "confirmed", totalPrice: 499.5 });
    expect(made["bookingId"]).not.toBe("bk_1");
    expect(made["createdAt"]).toBe(new Date(app.clock.now()).toISOString());
    expect(await seatsLeft(app, id)).toBe(9);
    const at = `${bookings}/${String(made["bookingId"])}`;
    expect((await app.as("user", at, {}, "victim")).status).toBe(404);
    expect((await app.as("user", at, {}, "mallory")).status).toBe(200);
  });

  test("of a passenger are ignored; those of a GraphQL input are rejected [API3-2]", async () => {
    const { id } = await addFlight(app);
    const body = { ...bookingBody(id), passengers: [{ ...passenger(), position: 7, sealed: "x" }] };
    expect((await app.as("user", bookings, post(body))).status).toBe(201);
    const query = `mutation ($input: CreateBookingInput!) { createBooking(input: $input) { reference } }`;
    const input = { ...bookingBody(id), userId: "victim" };
    const { data, errors } = await ask(app, "user", query, { input });
    expect(data).toBeUndefined();
    expect(errors?.[0]?.extensions).toMatchObject({ code: "BAD_USER_INPUT" });
    expect(await seatsLeft(app, id)).toBe(9);
  });

  test("of a destination are ignored: owner, state, id, times and secrets [API3-7]", async () => {
    const path = "/v1/destinations";
    const forged = {
      id: "dst_00000000000000000000000000000000",
      ownerId: null,
      address: "https://example.org/…",
      state: "broken",
      createdAt: "2000-01-01T00:00:00.000Z",
      updatedAt: 1,
      failures: "many",
      openUntil: 1,
      sealed: "x",
      before: 1,
    };
    const input = { name: "mine", format: "json", url: "https://example.com/hook" };
    const { secret: _, ...made } = await json(
      await app.as("user", path, post({ ...input, ...forged })),
    );
    expect(made).toMatchObject({ ownerId: "test-user", state: "active", failures: 0 });
    const one = `${path}/${String(made["id"])}`;
    // A change may set the state, to one that exists.
    const { state, ...unchangeable } = forged;
    for (const [field, value] of Object.entries(unchangeable)) {
      const request = { ...post({ [field]: value }), method: "PATCH" };
      expect(await json(await app.as("user", one, request))).toEqual(made);
    }
    const broken = { ...post({ state }), method: "PATCH" };
    expect((await app.as("user", one, broken)).status).toBe(422);
    const { updatedAt: __, ...rest } = made;
    expect(await json(await app.as("admin", path))).toMatchObject({ data: [rest] });
    expect(await json(await app.as("operator", `${path}?owner=operators`))).toMatchObject({
      data: [],
    });
  });

  test("filters do not reveal bookings of other users [API1-4]", async () => {
    const { id } = await addFlight(app);
    await app.as("user", bookings, post(bookingBody(id)), "victim");
    for (const query of ["userId=victim", "userId=*", "userId=%25", "role=admin"]) {
      const seen = await json(await app.as("user", `${bookings}?${query}`, {}, "mallory"));
      expect(["insufficient-scope", "invalid-parameter"]).toContain(String(seen["code"]));
      expect(seen).not.toHaveProperty("data");
    }
  });
});

describe("an introspection query with aliases", () => {
  const schemas = (count: number) =>
    `{ ${Array.from({ length: count }, (_, n) => `a${n}: __schema { types { name } }`).join(" ")} }`;
  const within = (count: number) =>
    `{ __schema { ${Array.from({ length: count }, (_, n) => `a${n}: types { name }`).join(" ")} } }`;

  test.each([
    ["at its root", schemas],
    ["within it", within],
    [
      "in a fragment",
      (count: number) => `${schemas(count).replace("{", "fragment F on Query {")} { ...F }`,
    ],
  ])(
    "%s is limited to 15 aliases, so that it cannot repeat the schema a hundred times [API4-17]",
    async (_, query) => {
      const app = await startApp();
      const rejected = await ask(app, null, query(16));
      expect(rejected.errors?.[0]?.extensions).toMatchObject({ limit: "aliases", max: 15 });
      expect((await ask(app, null, query(15))).errors).toBeUndefined();
      await app.stop();
    },
  );

  test("returns less than 1 MiB to the largest unauthenticated query", async () => {
    await using app = await startApp();
    const all =
      "{ name description fields { name description type { name } args { name description type { name } } } }";
    const query = `{ ${Array.from({ length: 15 }, (_, n) => `a${n}: __schema { types ${all} }`).join(" ")} }`;
    const answer = await app.fetch("/graphql", postQuery(query));
    expect((await answer.arrayBuffer()).byteLength).toBeLessThan(1024 * 1024);
  });
});

describe("client data in headers, notifications and logs", () => {
  test("the Link header contains no line breaks from the query [API10-7]", async () => {
    await using app = await startApp();
    const type = "%0d%0aSet-Cookie:%20a=b%3e%22%3c";
    const answer = await app.as("operator", `/v1/events?page=2&type=${type}`);
    expect(answer.headers.get("link")).toContain('rel="prev"');
    expect(answer.headers.get("link")).not.toMatch(/[\r\n]|Set-Cookie: |>"</);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test("notifications contain no control characters and no unsafe links [API10-5]", async () => {
    await using app = await startApp();
    const evil = "\u001b[2J\u009b31m\r\nFAKE LINE\u202egnp.exe\u2028";
    const urls = ["javascript:alert(1)", "data:text/html,x", "https://good.example@evil.example/"];
    for (const url of urls) {
      const run = { name: evil, conclusion: "failure", html_url: url, head_branch: evil };
      const repository = { full_name: evil, html_url: url };
      const body = { action: "completed", workflow_run: run, repository, sender: { login: evil } };
      const headers = { "x-codehost-event": "workflow_run" };
      const answer = await app.deliver("code_host", JSON.stringify(body), { headers });
      expect(await json(answer)).toMatchObject({ event: "workflow_run.completed" });
    }
    const notes = await listed(app, "/v1/notifications");
    expect(notes).toHaveLength(urls.length);
    for (const { title, text, url } of notes) {
      expect(url).toBeNull();
      expect(title).toContain("[2J 31m");
      expect(`${String(title)}${String(text)}`).not.toMatch(/[\p{Cc}\p{Zl}\p{Bidi_Control}]/u);
    }
  });

  test("an entry of the pretty log is one line without control characters [API10-6]", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "log");
    const log = createLog({ level: "info", format: "pretty", fd: openSync(file, "w") });
    const evil = "a\u001b[2J\u009b31m\r\nb\u202ec\u2028d";
    log.warn({ address: evil, err: new Error(evil), list: [evil] }, evil);
    await log.drain(5_000);
    const line = readFileSync(file, "utf8");
    removeFolder(folder);
    expect(line).toEndWith("\n");
    expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    expect(line).toContain(String.raw`a\u001b[2J\u009b31m\u000d\u000ab\u202ec\u2028d`);
  });
});

describe("a running server", () => {
  let cwd: string;
  let server: RunningServer | undefined;
  beforeEach(() => {
    cwd = temporaryFolder();
  });
  afterEach(async () => {
    await server?.stop();
    removeFolder(cwd);
  });

  /** Sends raw bytes and resolves with the status line of the response. */
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server?.url ?? "");
      let answer = "";
      const socket = connect(Number(port), hostname, () => socket.write(text));
      socket.on("data", (data) => {
        answer += data.toString();
        socket.destroy();
      });
      socket.on("close", () => resolve(answer.split("\r\n", 1)[0] ?? ""));
      socket.on("error", reject);
    });

  test("rejects ambiguous request framing and oversized headers [API8-14]", async () => {
    server = await startServer({ cwd });
    const to = "POST /v1/auth/token HTTP/1.1\r\nHost: x\r\n";
    const smuggled = "\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    for (const headers of [
      "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 4\r\nContent-Length: 5\r\n",
      "Content-Length: -1\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n",
      "X-Request-Id: a\r\n b\r\n",
      "X-Request-Id: a\rb\r\n",
    ]) {
      expect(await raw(`${to}${headers}${smuggled}`)).toStartWith("HTTP/1.1 400 ");
    }
    for (const long of [
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(20_000)}\r\n\r\n`,
      `GET /?${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ]) {
      expect(await raw(long)).toStartWith("HTTP/1.1 431 ");
    }
  });

  test("warns of unencrypted URLs for keys, notifications and traces, except on loopback [API7-6]", async () => {
    const env = {
      OPERATOR_GATEWAY_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
      LOG_FORMAT: "json",
    };
    const open = {
      ...env,
      JWKS_URL: "http://idp.example.com/jwks",
      OPERATOR_GATEWAY_URL: "http://ops.example.com/",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example.com",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=hush",
      // Prevents requests to that host.
      OTEL_TRACES_SAMPLER: "always_off",
    };
    server = await startServer({ cwd, env: open });
    await until(() => server?.log().includes("OPERATOR_GATEWAY_URL is not https") ?? false);
    await server.printed("JWKS_URL is not https");
    await server.printed("OTEL_EXPORTER_OTLP_ENDPOINT is not https");
    await server.stop();
    const closed = {
      ...env,
      JWKS_URL: "https://idp.example.com/jwks",
      OPERATOR_GATEWAY_URL: "http://127.0.0.1:9/",
    };
    server = await startServer({ cwd, env: closed });
    expect(server.log()).not.toContain("is not https");
  });

  test("warns in the help text of secrets that appear in the process list", async () => {
    for (const command of ["send", "verify", "register"]) {
      const { out } = await runSkyhook([command, "--help"], { cwd });
      expect(out.replaceAll(/\s+/g, " ")).toMatch(
        /(?:--secret|--token) <\w+> .*?(?:process list|ps)/,
      );
    }
  });
});
