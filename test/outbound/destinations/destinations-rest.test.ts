import { afterAll, describe, expect, test } from "bun:test";

import { json, jsonWith, until } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { expectLimited } from "../../support/limited.ts";
import { appForAll } from "../../support/running-app.ts";

const path = "/v1/destinations";
const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });
let received = 0;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => {
    received += 1;
    return new Response(null, { status: received === 1 ? 200 : 500 });
  },
});
const url = `http://127.0.0.1:${server.port}/hook`;
afterAll(() => server.stop(true));

const create = (body: object, headers: Record<string, string> = {}, bearer?: string) =>
  app.as("admin", path, post(body, headers), bearer);

describe("POST /v1/destinations", () => {
  test("returns the secret once, and the place of the destination", async () => {
    const response = await create({ name: "rest-1", format: "json", url, filter: "true" });
    const body = await jsonWith(response, 201);
    expect(response.headers.get("location")).toBe(`${path}/${String(body["id"])}`);
    expect(body).toMatchObject({ name: "rest-1", state: "active", filter: "true", ownerId: null });
    expect(body["secret"]).toMatch(/^whsec_/);
    const read = await json(await app.as("admin", `${path}/${String(body["id"])}`));
    expect(read).not.toHaveProperty("secret");
    expect(read["url"]).not.toContain("hook");
  });

  test("creates one per Idempotency-Key, and returns its secret to the first request only", async () => {
    const body = { name: "rest-2", format: "json", url };
    const first = await create(body, { "idempotency-key": "k" });
    const again = await create(body, { "idempotency-key": "k" });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const made = await json(first);
    expect(made["secret"]).toMatch(/^whsec_/);
    expect(await json(again)).toEqual({ ...made, secret: null });
    for (const { headers } of [first, again]) expect(headers.get("cache-control")).toBe("no-store");
    const other = await create({ ...body, name: "rest-3" }, { "idempotency-key": "k" });
    expect(other.status).toBe(422);
    expect((await json(other))["code"]).toBe("idempotency-key-reused");
  });

  test.each([
    [{ format: "fax" }, "/format", 422],
    [{ url: "ftp://example.com" }, "/url", 422],
    [{ ratePerSecond: 1_001 }, "/ratePerSecond", 422],
    [{ name: 5 }, "/name", 400],
    [{ maxConcurrent: "many" }, "/maxConcurrent", 400],
  ] as const)("refuses %j", async (fields, pointer, status) => {
    const response = await create({ name: "bad", format: "json", url, ...fields });
    expect(response.status).toBe(status);
    expect((await json(response))["errors"]).toEqual([expect.objectContaining({ pointer })]);
  });
});

test("one answer names every field that is not valid and every rule that is broken", async () => {
  const fields = { name: "Not a name", format: "pagerduty", url: "ftp://example.com" };
  const response = await create({ ...fields, filter: 'event.typ == "x"', ratePerSecond: 0 });
  const { errors, detail } = await jsonWith(response, 422);
  expect(detail).toMatch(
    /^\/name: .*; \/url: .*; \/filter: line 1, .*; \/ratePerSecond: .*; \/secret: /,
  );
  expect(errors).toEqual(
    ["/name", "/url", "/filter", "/ratePerSecond", "/secret"].map((pointer) =>
      expect.objectContaining({ pointer, code: "rule-broken" }),
    ),
  );
  const wrong = await jsonWith(await create({ name: 5, url: [], filter: "event.typ" }), 400);
  expect(wrong["errors"]).toEqual(
    ["/format", "/name", "/url", "/filter"].map((pointer) => expect.objectContaining({ pointer })),
  );
});

describe("a destination", () => {
  test("is changed, paused, resumed, rotated and removed", async () => {
    const { id, secret } = await json(await create({ name: "rest-4", format: "json", url }));
    const one = `${path}/${String(id)}`;
    const act = async (method: string, suffix = "", body?: object) => {
      const response = await app.as("admin", `${one}${suffix}`, {
        ...(body === undefined ? {} : post(body)),
        method,
      });
      return jsonWith(response, 200);
    };
    expect(await act("PATCH", "", { filter: "false", ratePerSecond: 5 })).toMatchObject({
      filter: "false",
      ratePerSecond: 5,
      name: "rest-4",
    });
    expect(await act("PATCH", "", { ratePerSecond: null })).toMatchObject({ ratePerSecond: null });
    expect(await act("POST", "/pause")).toMatchObject({ state: "paused" });
    expect(await act("POST", "/disable")).toMatchObject({ state: "disabled" });
    expect(await act("POST", "/resume")).toMatchObject({ state: "active" });
    expect((await act("POST", "/rotate"))["secret"]).not.toBe(secret);
    expect(await act("DELETE")).toMatchObject({ id });
    expect((await app.as("admin", one)).status).toBe(404);
  });

  test("is tested, lists its deliveries and sends dead ones again", async () => {
    const { id } = await json(
      await create({
        name: "rest-5",
        format: "json",
        url,
        filter: 'event.provider == "code_host"',
      }),
    );
    const one = `${path}/${String(id)}`;
    received = 0;
    const tested = await json(await app.as("admin", `${one}/test`, { method: "POST" }));
    expect(tested).toMatchObject({ delivered: true, responseStatus: 200, error: null });
    await app.deliverSample("code_host", "package.published");
    const deliveries = async (status: string) => {
      const page = await json(await app.as("admin", `${one}/deliveries?status=${status}`));
      return Array.isArray(page["data"]) ? page["data"].length : 0;
    };
    await until(async () => {
      app.clock.advance(3_600_000);
      return (await deliveries("dead")) === 1;
    });
    const retried = await json(await app.as("admin", `${one}/retry`, { method: "POST" }));
    expect(retried).toEqual({ retried: 1 });
    expect(await deliveries("dead")).toBe(0);
  });

  test("is tested at most 20 times a minute by a caller, providers included", async () => {
    const { id } = await json(await create({ name: "rest-7", format: "json", url }));
    const tested = async (
      role: "admin" | "user",
      bearer: string,
      at = `${path}/${String(id)}/test`,
    ) => app.as(role, at, post({}), bearer);
    app.clock.advance(60_000);
    for (let sent = 0; sent < 19; sent += 1) {
      expect((await tested("admin", "busy")).status).toBe(200);
    }
    expect((await tested("admin", "busy", "/v1/providers/code_host/test")).status).toBe(200);
    app.clock.advance(20_000);
    for (const at of [undefined, "/v1/providers/code_host/test"]) {
      const limited = await tested("admin", "busy", at);
      await expectLimited(limited, '"tests";q=20;w=60', 40, "too-many-tests");
    }
    expect((await tested("admin", "another")).status).toBe(200);
    // What a caller may not see does not count.
    expect((await tested("user", "busy")).status).toBe(404);
    app.clock.advance(40_000);
    expect((await tested("admin", "busy")).status).toBe(200);
  });

  test("is not found for another user, and is listed to admins and its owner only", async () => {
    const made = await app.as("user", path, post({ name: "rest-6", format: "json", url }), "ada");
    const { id } = await json(made);
    expect((await app.as("user", `${path}/${String(id)}`, {}, "bob")).status).toBe(404);
    const names = async (role: "user" | "admin", bearer: string) => {
      const page = await json(await app.as(role, path, {}, bearer));
      if (!Array.isArray(page["data"])) throw new Error("Not a page");
      return page["data"].map(({ name }: { name: string }) => name);
    };
    expect(await names("user", "ada")).toEqual(["rest-6"]);
    expect(await names("user", "bob")).toEqual([]);
    expect(await names("admin", "root")).toContain("rest-6");
  });
});
