import { describe, expect, test } from "bun:test";

import type { Role } from "../../../src/base/context.ts";
import { operatorGateway } from "../../../src/outbound/model/destination.ts";
import { json, jsonWith, startApp, type TestApp } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { gatewayEnv } from "../../support/gateway.ts";
import { expectLimited } from "../../support/limited.ts";
import { listed } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";
import { appForAll } from "../../support/running-app.ts";

const path = "/v1/destinations";
const url = "http://127.0.0.1:1099/hook";

const taken = resources();
const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });

const create = (name: string, bearer: string, role: Role = "user") =>
  app.as(role, path, post({ name, format: "json", url }), bearer);

/** A new destination of a user, and how to change it. */
async function destinationOf(bearer: string) {
  const made = await json(await create("changed", bearer));
  const one = `${path}/${String(made["id"])}`;
  return {
    made,
    one,
    patch: (changes: object) => app.as("user", one, { ...post(changes), method: "PATCH" }, bearer),
    entries: async () => {
      const list = await listed(app, `/v1/audit?limit=100&actor=${bearer}`, "admin");
      return list.map(({ action, detail }) => [action, detail]);
    },
  };
}

describe("PATCH /v1/destinations/{id}", () => {
  test("changes the state, and the audit list says so", async () => {
    const { made, one, patch, entries } = await destinationOf("ada");
    expect(await json(await patch({ state: "paused" }))).toMatchObject({ state: "paused" });
    expect(await json(await app.as("user", one, {}, "ada"))).toMatchObject({ state: "paused" });
    await patch({ state: "active", filter: "true", orderBy: "event.subject" });
    await patch({ state: "disabled" });
    expect(await json(await patch({ state: "asleep" }))).toMatchObject({
      errors: [{ pointer: "/state", detail: "One of: active, paused, disabled" }],
    });
    expect(await entries()).toEqual([
      ["destination.disabled", null],
      ["destination.resumed", null],
      ["destination.updated", "filter: none → true\norderBy: none → event.subject"],
      ["destination.paused", null],
      ["destination.created", made["url"]],
    ]);
  });

  test("rejects the URL that a read shows, which has lost its path", async () => {
    const { made, patch } = await destinationOf("shown");
    const answer = await jsonWith(await patch({ url: made["url"] }), 422);
    expect(answer["errors"]).toMatchObject([{ pointer: "/url" }]);
    expect(String(answer["detail"])).toContain("Write all of it");
  });

  test.each([
    ["without fields", {}],
    ["with an unknown field", { unknown: 1 }],
    ["without a difference", { name: "changed", url, state: "active", filter: null }],
  ])("stores nothing %s", async (how, changes) => {
    const bearer = `same-${how.length}`;
    const { made, patch, entries } = await destinationOf(bearer);
    app.clock.advance(1_000);
    const { secret: _, ...unchanged } = made;
    expect(await json(await patch(changes))).toEqual(unchanged);
    expect(await entries()).toHaveLength(1);
  });

  test("a pause of a paused destination stores nothing", async () => {
    const { one, entries } = await destinationOf("eve");
    const pause = () => app.as("user", `${one}/pause`, { method: "POST" }, "eve");
    const paused = await json(await pause());
    app.clock.advance(1_000);
    expect(await json(await pause())).toEqual(paused);
    expect(await entries()).toHaveLength(2);
  });

  test("renames it by several requests at once, and none answers that the name is taken", async () => {
    const { patch } = await destinationOf("two-renames");
    const rename = () => patch({ name: "renamed" });
    const answers = await Promise.all(Array.from({ length: 8 }, rename));
    // 503: another request changed it at the same time.
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect((await patch({ name: "renamed" })).status).toBe(200);
  });

  test("keeps the secret that signs, unless it is rotated", async () => {
    const { one, patch } = await destinationOf("fay");
    await patch({ format: "cloudevents", maxConcurrent: 2 });
    const rotated = await json(await app.as("user", `${one}/rotate`, { method: "POST" }, "fay"));
    expect(rotated["secret"]).toMatch(/^whsec_/);
    expect(rotated).toMatchObject({ format: "cloudevents", maxConcurrent: 2 });
  });

  test("blames the field that is wrong", async () => {
    const { patch } = await destinationOf("gus");
    const pointersOf = async (changes: object) =>
      Object(await json(await patch(changes))).errors.map(
        ({ pointer }: { pointer: string }) => pointer,
      );
    expect(await pointersOf({ alerts: true })).toEqual(["/alerts"]);
    expect(await pointersOf({ format: "slack" })).toEqual(["/format"]);
    expect(await pointersOf({ format: "slack", alerts: true })).toEqual(["/format", "/alerts"]);
  });
});

const gatewayPath = `${path}/${operatorGateway.id}`;
const act = (on: TestApp, action: string) =>
  on.as("admin", `${gatewayPath}/${action}`, { method: "POST" });

test("a restart keeps the state that an admin gave the operator gateway", async () => {
  const settings = { DATABASE_URL: `sqlite:${taken.newFile()}`, ...gatewayEnv(url) };
  const before = await startApp(settings);
  expect((await act(before, "pause")).status).toBe(200);
  await before.stop();
  const shown = await (await taken.app(settings)).as("admin", gatewayPath);
  expect(await json(shown)).toMatchObject({ state: "paused" });
});

test("the operator gateway cannot be resumed while its settings are missing", async () => {
  const database = { DATABASE_URL: `sqlite:${taken.newFile()}` };
  const configured = await startApp({ ...database, ...gatewayEnv(url) });
  expect((await act(configured, "pause")).status).toBe(200);
  expect((await act(configured, "resume")).status).toBe(200);
  await configured.stop();

  const without = await taken.app(database);
  const shown = await without.as("admin", gatewayPath);
  expect(await json(shown)).toMatchObject({ state: "disabled" });
  const refused = await act(without, "resume");
  expect(await jsonWith(refused, 422)).toMatchObject({ errors: [{ pointer: "/state" }] });
  expect((await act(without, "disable")).status).toBe(200);
});

describe("audited changes", () => {
  test("of a user are limited to 30 in a minute", async () => {
    const { patch, entries } = await destinationOf("busy");
    // The creation counts too.
    for (let n = 1; n < 30; n += 1) expect((await patch({ maxConcurrent: n })).status).toBe(200);
    app.clock.advance(20_000);
    await expectLimited(await patch({ maxConcurrent: 64 }), '"changes";q=30;w=60', 40);
    expect((await create("one-more", "busy")).status).toBe(429);
    expect(await entries()).toHaveLength(30);
    expect((await create("other", "idle")).status).toBe(201);
    app.clock.advance(40_000);
    expect((await patch({ maxConcurrent: 64 })).status).toBe(200);
  });

  test("of an admin are limited to 600", async () => {
    const { id } = await json(await create("admins", "root", "admin"));
    const patch = async (maxConcurrent: number) => {
      const changes = { ...post({ maxConcurrent }), method: "PATCH" };
      return (await app.as("admin", `${path}/${String(id)}`, changes, "root")).status;
    };
    for (let n = 1; n < 600; n += 1) expect(await patch(1 + (n % 64))).toBe(200);
    expect(await patch(64)).toBe(429);
  });
});
