import { describe, expect, test } from "bun:test";

import { json, jsonWith, startApp, until } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { postQuery } from "../../support/graphql.ts";
import { rpcRequest } from "../../support/mcp.ts";
import { itemsOf, listed } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { appForAll } from "../../support/running-app.ts";

const taken = resources();
const clock = manualClock();
const app = appForAll({}, clock);

const path = "/v1/keys";
type Role = "user" | "operator" | "admin";
const create = (body: object, bearer = "grace", role: Role = "operator") =>
  app.as(role, path, post(body), bearer);

async function created(body: object = { name: "Nightly export" }, bearer = "grace", role?: Role) {
  const { id, key } = await jsonWith(await create(body, bearer, role), 201);
  return { id: String(id), key: String(key) };
}

function withKey(key: string, at: string, init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  return app.fetch(at, { ...init, headers });
}
const statusOf = async (key: string, at = "/v1/events") => (await withKey(key, at)).status;
const revoke = (id: string, bearer: string, role: Role = "operator") =>
  app.as(role, `${path}/${id}`, { method: "DELETE" }, bearer);
const read = async (id: string) => json(await app.as("admin", `${path}/${id}`));

describe("an API key", () => {
  test("is shown once, and acts as its maker with its role", async () => {
    const response = await create({ name: "Nightly export", role: "operator" });
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { key, ...shown } = await jsonWith(response, 201);
    expect(response.headers.get("location")).toBe(`${path}/${String(shown["id"])}`);
    expect(key).toMatch(/^skyhook_key_[\w-]{43}$/);
    expect(shown).toMatchObject({
      kind: "key",
      name: "Nightly export",
      roles: ["operator"],
      actor: "grace",
      lastUsedAt: null,
    });
    const found = await app.as("operator", `${path}/${String(shown["id"])}`, {}, "grace");
    expect(await json(found)).toEqual(shown);
    expect(await json(await withKey(String(key), path))).toMatchObject({
      data: [{ name: "Nightly export" }],
    });
    expect(await statusOf(String(key))).toBe(200);
    expect(await statusOf(String(key), "/v1/audit")).toBe(403);
  });

  test("of a user sees the user's bookings, by REST and GraphQL, and no one else's", async () => {
    const flight = await addFlight(app);
    for (const bearer of ["usr_a", "usr_b"]) {
      const made = await app.as("user", "/v1/api/bookings", post(bookingBody(flight.id)), bearer);
      expect(made.status).toBe(201);
    }
    const { key } = await created({ name: "x" }, "usr_a", "user");
    const { data } = await json(await withKey(key, "/v1/api/bookings"));
    expect(itemsOf(data)).toHaveLength(1);
    const query = "{ bookings(first: 5) { edges { node { id } } } me { id } }";
    const { headers: _, ...init } = postQuery(query);
    const type = { "content-type": "application/json" };
    const answer = await json(await withKey(key, "/graphql", { ...init, headers: type }));
    expect(answer).toMatchObject({ data: { bookings: { edges: [{}] } } });
    expect(await statusOf(key)).toBe(403);
  });

  test.each<[Role, Role, number]>([
    ["user", "user", 201],
    ["user", "operator", 403],
    ["user", "admin", 403],
    ["operator", "user", 201],
    ["operator", "operator", 201],
    ["operator", "admin", 403],
    ["admin", "admin", 201],
    ["admin", "operator", 201],
  ])("that a caller with the role %s makes with the role %s: %p", async (role, wanted, status) => {
    const response = await create({ name: "x", role: wanted }, `roles of ${role}`, role);
    const body = await jsonWith(response, status);
    if (status === 201) expect(body).toMatchObject({ roles: [wanted] });
    else expect(body).toMatchObject({ detail: expect.stringContaining("requires the role") });
  });

  test("without a role can do what any user can, and no more", async () => {
    expect(await json(await create({ name: "x" }, "root", "admin"))).toMatchObject({
      roles: ["user"],
    });
  });

  test.each([
    [undefined, 90],
    [1, 1],
    [365, 365],
  ])("made for %p days is valid for %p", async (days, expected) => {
    await using own = await startApp({}, manualClock());
    const made = await own.as("operator", path, post({ name: "x", role: "operator", days }));
    const { key } = await json(made);
    const status = async () =>
      (await own.fetch("/v1/events", { headers: { authorization: `Bearer ${String(key)}` } }))
        .status;
    own.clock.advance(expected * 86_400_000 - 1);
    expect(await status()).toBe(200);
    own.clock.advance(1);
    expect(await status()).toBe(401);
    expect(await listed(own, path, "admin")).toEqual([]);
  });

  test.each<[object, number, string]>([
    [{}, 422, "/name"],
    [{ name: "a\nb" }, 422, "/name"],
    [{ name: "x".repeat(101) }, 422, "/name"],
    [{ name: "x", role: "root" }, 422, "/role"],
    [{ name: "x", role: ["admin"] }, 400, "/role"],
    [{ name: "x", days: 0 }, 422, "/days"],
    [{ name: "x", days: 366 }, 422, "/days"],
  ])("is refused for %j", async (body, status, pointer) => {
    const problem = await jsonWith(await create(body), status);
    expect(problem).toMatchObject({ errors: [{ pointer }] });
  });

  test("is refused beyond 20 of one caller, also at the same time, until one ends", async () => {
    const made = await Promise.all(
      Array.from({ length: 25 }, async () => create({ name: "x" }, "many")),
    );
    const statuses = made.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.filter((status) => status === 422)).toHaveLength(5);
    const agent = await app.as("operator", "/v1/sessions", post({ name: "x" }), "many");
    expect(agent.status).toBe(201);
    const { id } = await json(made.find(({ status }) => status === 201) ?? new Response());
    expect((await revoke(String(id), "many")).status).toBe(200);
    expect((await create({ name: "x" }, "many")).status).toBe(201);
  });

  test.each<[string, string, RequestInit]>([
    ["another key", path, post({ name: "x" })],
    ["a token for an agent", "/v1/sessions", post({ name: "x" })],
    [
      "a session of the console",
      "/v1/auth/session",
      { method: "POST", headers: { "x-skyhook-console": "1", "sec-fetch-site": "same-origin" } },
    ],
  ])("makes no access that would outlive it: %s", async (_, at, init) => {
    const { key } = await created({ name: "x", role: "admin" }, "root", "admin");
    const response = await withKey(key, at, init);
    expect(response.headers.get("set-cookie")).toBeNull();
    const detail =
      "An API key cannot sign in, nor make or end keys and tokens. Use an access token.";
    expect(await jsonWith(response, 403)).toMatchObject({ detail });
  });

  test("is accepted as a bearer token only: not at /mcp, as a cookie or in an address", async () => {
    const { key } = await created({ name: "x", role: "operator" }, "elsewhere");
    expect(await statusOf(key)).toBe(200);
    expect((await app.app.handle(rpcRequest({ token: key }, "tools/list"))).status).toBe(401);
    for (const cookie of [key, key.slice("skyhook_key_".length)]) {
      const headers = { cookie: `skyhook=${cookie}` };
      expect((await app.fetch("/v1/events", { headers })).status).toBe(401);
    }
    for (const name of ["access_token", "key", "token"]) {
      const response = await app.fetch(`/v1/events?${name}=${key}`);
      expect([400, 401]).toContain(response.status);
      expect(await response.text()).not.toContain(key);
    }
  });

  test("answers as any invalid token if it is unknown, malformed or revoked", async () => {
    const { id, key } = await created({ name: "x", role: "operator" }, "same");
    await revoke(id, "same");
    const other = await app.as("operator", "/v1/sessions", post({ name: "x" }), "same");
    const { token } = await json(other);
    const asKey = String(token).replace("skyhook_mcp_", "skyhook_key_");
    const answers = new Set<string>();
    for (const each of [key, asKey, String(token), `${key}x`, "skyhook_key_", "no.to.ken"]) {
      const response = await withKey(each, "/v1/events");
      const { instance: _, requestId: __, ...problem } = await jsonWith(response, 401);
      answers.add(JSON.stringify(problem));
    }
    expect([...answers]).toEqual([expect.stringContaining("invalid-token")]);
  });
});

describe("the last use of a key", () => {
  test("is stored to five minutes, and once for many requests", async () => {
    const { id, key } = await created({ name: "x", role: "operator" }, "used");
    const first = new Date(clock.now()).toISOString();
    const usedAt = async () => (await read(id))["lastUsedAt"];
    expect(await Promise.all(Array.from({ length: 20 }, () => statusOf(key)))).not.toContain(401);
    await until(async () => (await usedAt()) !== null);
    expect(await usedAt()).toBe(first);
    clock.advance(299_999);
    await statusOf(key);
    await statusOf(key);
    expect(await usedAt()).toBe(first);
    clock.advance(1);
    await statusOf(key);
    await until(async () => (await usedAt()) !== first);
    expect(await usedAt()).toBe(new Date(clock.now()).toISOString());
  });

  test("of a token for an agent is stored too", async () => {
    const made = await app.as("operator", "/v1/sessions", post({ name: "x" }), "agent's");
    const { token } = await json(made);
    expect(await app.services.storedTokens.find("agent", String(token))).toMatchObject({
      lastUsedAt: null,
    });
    await until(async () => {
      const [found] = itemsOf(
        (await json(await app.as("operator", "/v1/sessions", {}, "agent's")))["data"],
      );
      return found?.["lastUsedAt"] !== null;
    });
  });
});

describe("revoking a key", () => {
  test.each([
    ["its maker", "ada", "user"],
    ["an admin", "root", "admin"],
    ["the key itself", null, "user"],
  ] as const)("takes effect at once, by %s", async (_, bearer, role) => {
    const { id, key } = await created({ name: "My key" }, "ada", "user");
    expect((await revoke(id, "grace")).status).toBe(404);
    expect(await statusOf(key, path)).toBe(200);
    const ended = await (bearer === null
      ? withKey(key, `${path}/${id}`, { method: "DELETE" })
      : revoke(id, bearer, role));
    expect(await jsonWith(ended, 200)).toMatchObject({ id, name: "My key" });
    expect(await statusOf(key, path)).toBe(401);
    expect((await revoke(id, "ada", "user")).status).toBe(404);
    const entries = await listed(app, `/v1/audit?subject=${id}`, "admin");
    expect(entries).toMatchObject([
      {
        action: "key.revoked",
        actor: bearer ?? "ada",
        subjectName: "My key",
        detail: bearer === null ? "API key: My key" : null,
      },
      { action: "key.created", actor: "ada", detail: expect.stringContaining("name: My key") },
    ]);
  });

  test("is for its maker and admins, as is the list", async () => {
    const { id } = await created({ name: "x" }, "ada", "user");
    const isListed = async (role: Role, bearer: string, query = "") => {
      const { data } = await jsonWith(await app.as(role, `${path}${query}`, {}, bearer), 200);
      return JSON.stringify(data).includes(id);
    };
    expect(await isListed("user", "ada")).toBe(true);
    expect(await isListed("user", "ada", "?actor=ada")).toBe(true);
    expect(await isListed("operator", "grace")).toBe(false);
    expect((await app.as("operator", `${path}?actor=ada`, {}, "grace")).status).toBe(403);
    expect(await isListed("admin", "root", "?actor=ada")).toBe(true);
    expect(await isListed("admin", "root", "?actor=grace")).toBe(false);
    expect((await app.as("operator", `${path}/${id}`, {}, "grace")).status).toBe(404);
  });

  test.each(["/v1/keys", "/v1/sessions"])(
    "is not for another key that has fewer roles, at %s",
    async (at) => {
      const { id, key } = await created({ name: "x", role: "admin" }, "root", "admin");
      const { key: lesser } = await created({ name: "y", role: "operator" }, "root", "admin");
      const { key: equal } = await created({ name: "z", role: "admin" }, "root", "admin");
      const end = async (with_: string) =>
        (await withKey(with_, `${at}/${id}`, { method: "DELETE" })).status;
      expect(await end(lesser)).toBe(403);
      expect(await statusOf(key)).toBe(200);
      expect(await end(equal)).toBe(200);
      expect(await statusOf(key)).toBe(401);
    },
  );

  test("is possible where sessions are ended too, which list the keys", async () => {
    const { id, key } = await created({ name: "x", role: "operator" }, "linus");
    const at = "/v1/sessions";
    const { data } = await json(await app.as("operator", at, {}, "linus"));
    expect(data).toMatchObject([{ id, kind: "key", name: "x" }]);
    const agents = await json(await app.as("operator", `${at}?kind=agent`, {}, "linus"));
    expect(agents["data"]).toEqual([]);
    const end = (bearer: string) => app.as("operator", `${at}/${id}`, { method: "DELETE" }, bearer);
    expect((await end("grace")).status).toBe(404);
    expect((await end("linus")).status).toBe(200);
    expect(await statusOf(key)).toBe(401);
  });

  test("ends no token for an agent", async () => {
    const made = await app.as("operator", "/v1/sessions", post({ name: "x" }), "mixed");
    const { id } = await json(made);
    expect((await revoke(String(id), "mixed")).status).toBe(404);
    expect((await revoke(String(id), "root", "admin")).status).toBe(404);
  });

  test("ends the streams of the key within a minute", async () => {
    const { id, key } = await created({ name: "x", role: "operator" }, "streaming");
    const open = () => withKey(key, "/v1/feed", { headers: { accept: "text/event-stream" } });
    const stream = await open();
    expect(stream.status).toBe(200);
    await revoke(id, "streaming");
    clock.advance(60_000);
    let isEnded = false;
    void stream.text().then(() => (isEnded = true));
    await until(() => isEnded);
    expect((await open()).status).toBe(401);
  });
});

test("a key is never logged, whether it is accepted or refused", async () => {
  const { logFd, text } = taken.log();
  const logging = await taken.app({ LOG_LEVEL: "debug" }, undefined, { logFd });
  const made = await logging.as("operator", path, post({ name: "x", role: "operator" }));
  const { id, key } = await json(made);
  const headers = { authorization: `Bearer ${String(key)}` };
  expect((await logging.fetch("/v1/events", { headers })).status).toBe(200);
  expect((await logging.fetch(`/v1/events?token=${String(key)}`, { headers })).status).toBe(400);
  const rejected = await logging.deliver("code_host", "{}", { secret: "wrong", headers });
  expect(rejected.status).toBe(401);
  expect((await logging.as("admin", `${path}/${String(id)}`, { method: "DELETE" })).status).toBe(
    200,
  );
  expect((await logging.fetch("/v1/events", { headers })).status).toBe(401);
  await logging.stop();
  expect(text()).toContain("access token refused: no API key is stored for it");
  expect(text()).not.toMatch(/skyhook_key_[\w-]{10}/);
});
