import { describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { post } from "../../support/flights.ts";
import { itemsOf, listed } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const clock = manualClock();
const app = appForAll({}, clock);

const path = "/v1/sessions";
const create = (body: object, bearer = "grace", role: "operator" | "admin" = "operator") =>
  app.as(role, path, post(body), bearer);

async function created(body: object = { name: "Claude Code" }, bearer = "grace") {
  const { id, token } = await jsonWith(await create(body, bearer), 201);
  return { id: String(id), token: String(token) };
}

const end = (id: string, bearer: string, role: "operator" | "admin" = "operator") =>
  app.as(role, `${path}/${id}`, { method: "DELETE" }, bearer);
const find = (token: string) => app.services.storedTokens.find("agent", token);

describe("a token for an agent", () => {
  test("is shown once, belongs to its maker, and reads only unless allowed", async () => {
    const response = await create({ name: "Claude Code" });
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { token, ...session } = await jsonWith(response, 201);
    expect(token).toMatch(/^skyhook_mcp_[\w-]{43}$/);
    expect(session).toMatchObject({ kind: "agent", actor: "grace", name: "Claude Code" });
    const [found] = itemsOf((await json(await app.as("operator", path, {}, "grace")))["data"]);
    expect(found).toEqual(session);
    expect(await find(String(token))).toMatchObject({ id: session["id"], allowed: [] });
    const audited = await listed(app, `/v1/audit?subject=${String(session["id"])}`, "admin");
    expect(audited).toMatchObject([
      { actor: "grace", action: "agent.token_created", detail: expect.stringContaining("Claude") },
    ]);
    expect(JSON.stringify(audited)).not.toContain("skyhook_mcp_");
  });

  test("has what its maker allowed, but never the role admin", async () => {
    const body = { name: "Writer", allowed: ["bodies", "writes"], roles: ["admin"], actor: "ada" };
    const { token } = await jsonWith(await create(body, "root", "admin"), 201);
    const session = await find(String(token));
    expect(session?.allowed).toEqual(["bodies", "writes"]);
    expect(session).toMatchObject({ roles: ["operator"], actor: "root" });
  });

  test.each([
    [undefined, 7],
    [1, 1],
    [30, 30],
  ])("made for %p days is valid for %p", async (days, expected) => {
    const { token } = await created({ name: "x", days }, `for ${days} days`);
    clock.advance(expected * 86_400_000 - 1);
    expect(await find(token)).not.toBeNull();
    clock.advance(1);
    expect(await find(token)).toBeNull();
  });

  test.each<[object, number, string]>([
    [{}, 422, "/name"],
    [{ name: "" }, 422, "/name"],
    [{ name: " " }, 422, "/name"],
    [{ name: "a\nb" }, 422, "/name"],
    [{ name: "a\u0000" }, 422, "/name"],
    [{ name: "x".repeat(101) }, 422, "/name"],
    [{ name: 5 }, 400, "/name"],
    [{ name: "x", days: 0 }, 422, "/days"],
    [{ name: "x", days: 31 }, 422, "/days"],
    [{ name: "x", days: 1.5 }, 400, "/days"],
    [{ name: "x", allowed: ["admin"] }, 422, "/allowed/0"],
    [{ name: "x", allowed: ["writes", "writes"] }, 422, "/allowed"],
    [{ name: "x", allowed: "writes" }, 400, "/allowed"],
  ])("is refused for %j", async (body, status, pointer) => {
    const problem = await jsonWith(await create(body), status);
    expect(problem).toMatchObject({ errors: [{ pointer }] });
  });

  test("is refused beyond 20 of one operator, until one ends", async () => {
    const made = await Promise.all(
      Array.from({ length: 25 }, async () => create({ name: "x" }, "many")),
    );
    const statuses = made.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.filter((status) => status === 422)).toHaveLength(5);
    expect((await create({ name: "x" }, "another")).status).toBe(201);
    const { id } = await json(made.find(({ status }) => status === 201) ?? new Response());
    expect((await end(String(id), "many")).status).toBe(200);
    expect((await create({ name: "x" }, "many")).status).toBe(201);
  });

  test("opens no session of the console, and no route of the API", async () => {
    const { token } = await created();
    for (const cookie of [token, token.slice("skyhook_mcp_".length)]) {
      const headers = { cookie: `skyhook=${cookie}` };
      expect((await app.fetch("/v1/events", { headers })).status).toBe(401);
    }
    const headers = { authorization: `Bearer ${token}` };
    expect((await app.fetch("/v1/events", { headers })).status).toBe(401);
    expect((await app.fetch("/graphql", { ...post({}), headers })).status).not.toBe(200);
  });

  test("is no cookie of the console, nor anything malformed", async () => {
    const own = { "x-skyhook-console": "1", "sec-fetch-site": "same-origin" };
    const signedIn = await app.as("operator", "/v1/auth/session", { method: "POST", headers: own });
    const cookie = /^skyhook=([^;]*)/.exec(signedIn.headers.get("set-cookie") ?? "")?.[1] ?? "";
    expect(cookie).toHaveLength(43);
    const { token } = await created();
    const wrong = [cookie, `skyhook_mcp_${cookie}`, "", "skyhook_mcp_", `${token}x`, ` ${token}`];
    for (const each of wrong) expect([each, await find(each)]).toEqual([each, null]);
  });

  test("stays when its maker signs in to the console more than 200 times", async () => {
    const { token } = await created({ name: "x" }, "frequent");
    const init = { method: "POST", headers: { "x-skyhook-console": "1" } };
    for (let count = 0; count <= 200; count += 1) {
      await app.as("operator", "/v1/auth/session", init, "frequent");
    }
    expect(await find(token)).not.toBeNull();
  });
});

describe("ending a token for an agent", () => {
  test.each([
    ["its maker", "ada", "operator"],
    ["an admin", "root", "admin"],
  ] as const)("takes effect at once, by %s", async (_, bearer, role) => {
    const { id, token } = await created({ name: "x" }, "ada");
    expect((await end(id, "grace")).status).toBe(404);
    expect(await find(token)).not.toBeNull();
    expect(await json(await end(id, bearer, role))).toMatchObject({ id });
    expect(await find(token)).toBeNull();
    expect((await end(id, bearer, role)).status).toBe(404);
    const query = `/v1/audit?subject=${id}&action=session.revoked`;
    expect(await listed(app, query, "admin")).toMatchObject([{ actor: bearer }]);
  });

  test("is for its maker and admins, as is the list", async () => {
    const { id } = await created({ name: "x" }, "ada");
    const idsFor = async (role: "operator" | "admin", bearer: string, query = "") => {
      const { data } = await json(await app.as(role, `${path}${query}`, {}, bearer));
      return JSON.stringify(data).includes(id);
    };
    expect(await idsFor("operator", "ada")).toBe(true);
    expect(await idsFor("operator", "ada", "?kind=agent")).toBe(true);
    expect(await idsFor("operator", "grace")).toBe(false);
    expect((await app.as("operator", `${path}?kind=console`, {}, "ada")).status).toBe(403);
    expect(await idsFor("admin", "root", "?kind=agent")).toBe(true);
    expect(await idsFor("admin", "root", "?kind=console")).toBe(false);
  });
});
