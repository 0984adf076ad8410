import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import { makeId } from "../../src/base/ids.ts";
import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { replays } from "../../src/events/replays.ts";
import { audit } from "../../src/identity/audit/audit.ts";
import { writeLimiter } from "../../src/identity/limiter.ts";
import { json, jsonWith, startApp, type TestApp, until } from "../support/app.ts";
import { post } from "../support/flights.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { contextOf, itemsOf, listed, timelineOf } from "../support/operator.ts";
import { eventRow } from "../support/rows.ts";

let app: TestApp;
let gateway: TestGateway;
let gatewayStatus: number;
beforeEach(async () => {
  gatewayStatus = 200;
  gateway = testGateway(() => new Response(null, { status: gatewayStatus }));
  app = await startApp(gateway.env);
});
afterEach(async () => {
  await app.stop();
  await gateway.stop();
});

const undelivered = { from: "2020-01-01T00:00:00Z" };
const everything = { ...undelivered, onlyUndelivered: false };

function ask(path: string, body: object | null, role: "operator" | "user" = "operator") {
  return app.as(role, `/v1/replays${path}`, body === null ? { method: "POST" } : post(body));
}

async function started(body: object): Promise<Record<string, unknown>> {
  return jsonWith(await ask("", body), 201);
}

const read = async (id: unknown) => json(await app.as("operator", `/v1/replays/${String(id)}`));

/** Lets the time of a replay pass until it has a status. */
async function reaches(id: unknown, status: string): Promise<Record<string, unknown>> {
  await until(async () => {
    app.clock.advance(100);
    return (await read(id))["status"] === status;
  });
  return read(id);
}

/** Delivers tasks, one per second. Returns their events' ids, oldest first. */
async function deliver(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    const body = JSON.stringify({
      event_name: "item:completed",
      event_data: { id: `${number}`, content: `task ${number}` },
    });
    ids.push(String((await json(await app.deliver("task_tracker", body)))["id"]));
    app.clock.advance(1_000);
  }
  return ids;
}

describe("a bulk replay", () => {
  test("replays each event once, and says what became of each", async () => {
    const ids = await deliver(3);
    await app.deliver("task_tracker", JSON.stringify({ event_name: "item:updated" }));
    app.clock.advance(1_000);
    const replay = await started({ ...everything, ratePerSecond: 1_000 });
    expect(replay).toMatchObject({ status: "running", total: 4, ratePerSecond: 1_000 });
    expect(await reaches(replay["id"], "finished")).toMatchObject({
      total: 4,
      notified: 3,
      silent: 1,
      resent: 0,
      deleted: 0,
      failed: 0,
      changed: 0,
      lastError: null,
    });
    for (const id of ids) expect(await timelineOf(app, id)).toHaveLength(2);
  });

  test("previews the newest events, and who would be notified a second time", async () => {
    const received = await deliver(12);
    await until(
      async () => (await listed(app, "/v1/notifications?status=delivered")).length === 12,
    );
    gatewayStatus = 500;
    const answer = await json(await app.deliverSample("deploy_platform", "deploy.error"));
    const failing = String(answer["id"]);
    await until(async () => (await timelineOf(app, failing))[0]?.["status"] === "retrying");
    app.clock.advance(1_000);
    const preview = await json(await ask("/preview", everything));
    expect(preview).toMatchObject({
      total: 13,
      undelivered: 1,
      delivered: 12,
      repeated: 12,
      repeatedTo: [{ destination: "operator-gateway", events: 12 }],
    });
    const newest = itemsOf(preview["newest"]);
    expect(newest.map(({ id }) => id)).toEqual([failing, ...received.slice(3).toReversed()]);
    expect(newest[1]).toMatchObject({ title: "Task completed: task 12", type: "task.completed" });
    const retrying = { ...everything, delivery: "retrying" };
    expect(await json(await ask("/preview", retrying))).toMatchObject({ repeated: 0 });
    expect(await listed(app, "/v1/notifications")).toHaveLength(13);
  });

  test("leaves out what was delivered, unless onlyUndelivered is false", async () => {
    await deliver(3);
    await until(async () => (await listed(app, "/v1/notifications?status=delivered")).length === 3);
    gatewayStatus = 500;
    const body = Buffer.from(
      JSON.stringify({ event_name: "item:completed", event_data: { id: "9", content: "new" } }),
    );
    const answer = await json(await app.deliverSample("deploy_platform", "deploy.error"));
    const failing = String(answer["id"]);
    await until(async () => (await timelineOf(app, failing))[0]?.["status"] === "retrying");
    app.clock.advance(1_000);
    await app.services.storage.atomically(
      write(insertEvent, eventRow(1, { createdAt: new Date(app.clock.now() - 1_000), body })),
    );
    const destination = "operator-gateway";
    for (const [filters, total, left, delivered] of [
      [undelivered, 2, 2, 3],
      [everything, 5, 2, 3],
      [{ ...undelivered, type: "task.*" }, 1, 1, 3],
      [{ q: '"task 2"' }, 0, 0, 1],
      [{ ...undelivered, destination }, 1, 1, 3],
      [{ delivery: "retrying" }, 1, 1, 0],
      [{ delivery: "delivered" }, 0, 0, 3],
      [{ delivery: "delivered", destination }, 0, 0, 3],
      [{ delivery: "delivered", onlyUndelivered: false }, 3, 0, 3],
    ] as const) {
      const counts = { total, compared: total, undelivered: left, delivered };
      const preview = await json(await ask("/preview", filters));
      expect({ filters, ...preview }).toMatchObject({ ...counts, repeated: total - left });
    }
    const none = await jsonWith(await ask("", { delivery: "delivered" }), 422);
    expect(itemsOf(none["errors"])).toMatchObject([{ pointer: "/onlyUndelivered" }]);
    gatewayStatus = 200;
    const { id, filters } = await started({ ...undelivered, ratePerSecond: 1_000 });
    expect(filters).toMatchObject({ onlyUndelivered: true });
    const counts = { total: 2, resent: 1, notified: 1, silent: 0 };
    expect(await reaches(id, "finished")).toMatchObject(counts);
    await until(async () => (await listed(app, "/v1/notifications?status=delivered")).length === 5);
    expect((await json(await ask("/preview", undelivered)))["total"]).toBe(0);
  });

  const delivered = { delivery: "delivered", onlyUndelivered: false } as const;
  test("replays only events that match, and not those received after its start", async () => {
    const [, second] = await deliver(3);
    await app.deliverSample("deploy_platform", "deploy.error");
    app.clock.advance(1_000);
    await until(async () => (await json(await ask("/preview", delivered)))["total"] === 4);
    const found = await json(await app.as("operator", `/v1/events/${second}`));
    const { idempotencyKey } = found;
    const from = String(found["createdAt"]);
    await until(async () => (await listed(app, "/v1/notifications?status=delivered")).length === 4);
    for (const [filters, total] of [
      [{ from }, 3],
      [{ from, provider: "task_tracker" }, 2],
      [{ from, type: "deploy.*" }, 1],
      [{ from, to: from }, 0],
      [{ from: "2100-01-01T00:00:00Z" }, 0],
      [{ from: "2100-01-01T00:00:00Z", to: "2100-01-02T00:00:00Z" }, 0],
      [{ from, status: "ignored" }, 0],
      [delivered, 4],
      [{ q: "task" }, 3],
      [{ q: '"task 2"' }, 1],
      [{ q: "deplo*", from }, 1],
      [{ q: "task", delivery: "dead" }, 0],
      [{ q: "task", type: "deploy.*" }, 0],
      [{ q: "-" }, 0],
      [{ subject: "task/2" }, 1],
      [{ subject: "task/2", q: "deploy" }, 0],
      [{ idempotencyKey: String(idempotencyKey) }, 1],
    ] as const) {
      const preview = await json(await ask("/preview", { onlyUndelivered: false, ...filters }));
      expect([filters, preview["total"]]).toEqual([filters, total]);
    }
    const replay = await started({ from, onlyUndelivered: false, ratePerSecond: 1 });
    await deliver(1);
    expect(await reaches(replay["id"], "finished")).toMatchObject({ total: 3, notified: 3 });
  });

  test("replays what a search finds, also what was acknowledged just before", async () => {
    const ids = await deliver(12);
    const replay = await started({
      q: '"task 1"*',
      onlyUndelivered: false,
      ratePerSecond: 1_000,
    });
    expect(replay).toMatchObject({ total: 4, filters: { q: '"task 1"*', from: null } });
    expect(await reaches(replay["id"], "finished")).toMatchObject({ total: 4, notified: 4 });
    const counts = await Promise.all(ids.map(async (id) => (await timelineOf(app, id)).length));
    expect(counts).toEqual([2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
    const [entry] = await listed(app, "/v1/audit?action=replay.*", "admin");
    expect(entry?.["detail"]).toEndWith('q "task 1"*');
  });

  test("starts with the filters that a preview, or another replay, returns", async () => {
    await deliver(2);
    const preview = await json(await ask("/preview", { ...everything, provider: "task_tracker" }));
    const { total, filters } = preview;
    expect(Object.values(Object(filters))).toContain(null);
    const replay = await started(Object(filters));
    expect(replay).toMatchObject({ total, filters: Object(filters) });
    await reaches(replay["id"], "finished");
    expect(await started(Object(replay["filters"]))).toMatchObject({ total, filters });
    // Null is no filter, so this would replay everything.
    const unlimited = await ask("/preview", { from: null, q: null, provider: "task_tracker" });
    expect(unlimited.status).toBe(422);
  });

  test("sends what failed again under its own id", async () => {
    gatewayStatus = 500;
    const [id = ""] = await deliver(1);
    await until(async () => (await timelineOf(app, id))[0]?.["status"] === "retrying");
    const [before] = await timelineOf(app, id);
    gatewayStatus = 200;
    const replay = await started({ delivery: "retrying" });
    expect(await reaches(replay["id"], "finished")).toMatchObject({ total: 1, resent: 1 });
    await until(async () => (await timelineOf(app, id))[0]?.["status"] === "delivered");
    const after = await timelineOf(app, id);
    expect(after.map((each) => each["id"])).toEqual([before?.["id"]]);
  });

  test("sends nothing again that was delivered before its turn", async () => {
    gatewayStatus = 500;
    const [first = "", second = ""] = await deliver(2);
    const statusOf = async (id: string) => (await timelineOf(app, id))[0]?.["status"];
    for (const id of [first, second]) {
      await until(async () => (await statusOf(id)) === "retrying");
    }
    gatewayStatus = 200;
    const { id } = await started({ delivery: "retrying", ratePerSecond: 1 });
    await until(async () => (await statusOf(first)) === "delivered");
    await app.as("operator", `/v1/events/${second}/replay`, { method: "POST" });
    await until(async () => (await statusOf(second)) === "delivered");
    expect(await reaches(id, "finished")).toMatchObject({ resent: 1, silent: 1, notified: 0 });
    expect(await timelineOf(app, second)).toHaveLength(1);
  });

  test("keeps its rate", async () => {
    await deliver(10);
    const { id } = await started({ ...everything, ratePerSecond: 2 });
    await until(async () => Number((await read(id))["notified"]) === 1);
    app.clock.advance(499);
    await Bun.sleep(20);
    expect(await read(id)).toMatchObject({ notified: 1 });
    // The timer may have been set after the clock advanced.
    const reachesCount = async (count: number) =>
      until(async () => {
        app.clock.advance(1);
        return Number((await read(id))["notified"]) >= count;
      });
    await reachesCount(2);
    // It does not catch up after a pause of the process.
    app.clock.advance(10_000);
    await Bun.sleep(20);
    expect(Number((await read(id))["notified"])).toBeLessThanOrEqual(4);
    await reachesCount(4);
  });

  test("goes on when the clock is set back", async () => {
    await deliver(4);
    const { id } = await started({ ...everything, ratePerSecond: 2 });
    await until(async () => Number((await read(id))["notified"]) === 1);
    app.clock.jump(-3_600_000);
    await reaches(id, "finished");
  });

  test("can be stopped and resumed, and repeats nothing", async () => {
    const ids = await deliver(6);
    const { id } = await started({ ...everything, ratePerSecond: 1 });
    await until(async () => Number((await read(id))["notified"]) === 1);
    app.clock.advance(1_000);
    await until(async () => Number((await read(id))["notified"]) === 2);
    const stopped = await json(await ask(`/${String(id)}/stop`, null));
    expect(stopped).toMatchObject({ status: "stopped", notified: 2 });
    app.clock.advance(60_000);
    await Bun.sleep(20);
    expect(await read(id)).toMatchObject({ status: "stopped", notified: 2 });
    expect(await json(await ask(`/${String(id)}/resume`, null))).toMatchObject({
      status: "running",
    });
    expect(await reaches(id, "finished")).toMatchObject({ notified: 6 });
    for (const each of ids) expect(await timelineOf(app, each)).toHaveLength(2);
    // Neither has an effect on a finished one.
    for (const what of ["stop", "resume"]) {
      const same = await json(await ask(`/${String(id)}/${what}`, null));
      expect(same).toMatchObject({ status: "finished" });
    }
    const audit = await listed(app, "/v1/audit?action=replay.*", "admin");
    expect(audit.map(({ action }) => action)).toEqual([
      "replay.resumed",
      "replay.stopped",
      "replay.started",
    ]);
    expect(audit.map(({ subject }) => subject)).toEqual([id, id, id]);
  });

  test("runs alone", async () => {
    await deliver(2);
    const first = await started({ ...everything, ratePerSecond: 1 });
    expect(await jsonWith(await ask("", everything), 409)).toMatchObject({
      code: "replay-running",
    });
    await ask(`/${String(first["id"])}/stop`, null);
    const third = await started({ ...everything, ratePerSecond: 1 });
    expect((await ask(`/${String(first["id"])}/resume`, null)).status).toBe(409);
    await reaches(third["id"], "finished");
    expect((await listed(app, "/v1/replays")).map(({ id }) => id)).toEqual([
      third["id"],
      first["id"],
    ]);
  });

  test("stores what this version makes of the same bytes, and previews the difference", async () => {
    const body = Buffer.from(
      JSON.stringify({ event_name: "item:completed", event_data: { id: "1", content: "new" } }),
    );
    const row = eventRow(1, {
      title: "An old title",
      data: { gone: "x" },
      createdAt: new Date(app.clock.now() - 1_000),
      body,
    });
    await app.services.storage.atomically(write(insertEvent, row));
    const preview = await json(await ask("/preview", everything));
    expect(preview).toMatchObject({ total: 1, compared: 1, differing: 1 });
    expect(preview["filters"]).toEqual({
      from: "2020-01-01T00:00:00.000Z",
      to: new Date(app.clock.now()).toISOString(),
      onlyUndelivered: false,
      provider: null,
      type: null,
      status: null,
      delivery: null,
      destination: null,
      subject: null,
      severity: null,
      idempotencyKey: null,
      q: null,
    });
    const [example] = itemsOf(preview["examples"]);
    expect(example).toMatchObject({ id: row.id, type: "task.completed" });
    const changes = itemsOf(example?.["changes"]);
    expect(changes).toContainEqual({
      field: "title",
      stored: "An old title",
      now: "Task completed: new",
    });
    expect(changes).toContainEqual({ field: "data.gone", stored: "x", now: null });
    expect(await listed(app, "/v1/replays")).toEqual([]);
    const { id } = await started(everything);
    expect(await reaches(id, "finished")).toMatchObject({ notified: 1, changed: 1 });
    expect(await json(await ask("/preview", everything))).toMatchObject({ differing: 0 });
  });
});

test.each([
  [{}, "/from"],
  [{ from: "yesterday" }, "/from"],
  [{ from: "2026-02-31T00:00:00Z" }, "/from"],
  [{ from: "2026-02-29T00:00:00Z" }, "/from"],
  [{ from: "2026-11-21T09:00:01Z", to: "2026-11-21T09:00:00Z" }, "/to"],
  [{ provider: "task_tracker", type: "task.*" }, "/from"],
  [{ ...everything, delivery: "lost" }, "/delivery"],
  [{ q: "" }, "/q"],
  [{ q: "x".repeat(1_001) }, "/q"],
  [{ subject: "" }, "/subject"],
  [{ idempotencyKey: "" }, "/idempotencyKey"],
  [{ ...everything, ratePerSecond: 0 }, "/ratePerSecond"],
  [{ ...everything, ratePerSecond: 1_001 }, "/ratePerSecond"],
  [{ ...everything, provder: "task_tracker" }, "/provder"],
])("rejects %j and names the field", async (body, pointer) => {
  for (const path of ["", "/preview"]) {
    const response = await ask(path, body);
    expect(response.status).toBe(422);
    expect(itemsOf((await json(response))["errors"])).toMatchObject([{ pointer }]);
  }
});

test("is stopped and resumed by several operators at once", async () => {
  await deliver(2);
  const { id } = await started({ ...everything, ratePerSecond: 1 });
  const path = `/${String(id)}`;
  const all = async (action: string) =>
    Promise.all(
      Array.from({ length: 5 }, async () => {
        const response = await ask(`${path}/${action}`, null);
        return [response.status, (await json(response))["status"]];
      }),
    );
  expect(await all("stop")).toEqual(Array(5).fill([200, "stopped"]));
  expect(await all("resume")).toEqual(Array(5).fill([200, "running"]));
});

test("does not start before the search index has all events", async () => {
  const { storage } = app.services;
  const { clock } = app;
  const ctx = contextOf("operator", "operator");
  let isCaughtUp = false;
  const unindexed = replays({
    storage,
    index: { caughtUp: () => Promise.resolve(isCaughtUp) },
    replaying: { prepare: neverCalled },
    checkProvider: async () => {},
    audit: audit(storage, clock, makeId, writeLimiter(clock)),
    clock,
    makeId,
    wake: () => {},
  });
  for (const call of ["preview", "start"] as const) {
    for (const filters of [{ delivery: "none" }, { q: "build" }, { subject: "task/1" }]) {
      expect(unindexed[call](ctx, filters)).rejects.toMatchObject({ code: "unavailable" });
    }
    expect(unindexed[call](ctx, undelivered)).rejects.toMatchObject({ code: "unavailable" });
  }
  // Needs no index.
  const empty = { ...everything, to: everything.from };
  expect(await unindexed.start(ctx, empty)).toMatchObject({ total: 0 });
  isCaughtUp = true;
  expect(await unindexed.preview(ctx, { delivery: "dead" })).toMatchObject({ total: 0 });
});

function neverCalled(): never {
  throw new Error("No event matches");
}

test.each([`"code_host"`, `["code_host", "deploy_platform"]`, "7", "null"])(
  "rejects the body %s with one error",
  async (body) => {
    for (const path of ["", "/preview"]) {
      const response = await app.as("operator", `/v1/replays${path}`, post(body));
      const { code, detail, errors } = await jsonWith(response, 400);
      expect(code).toBe("invalid-body");
      expect(detail).toStartWith("The body: Expected object");
      expect(itemsOf(errors)).toMatchObject([{ pointer: "" }]);
    }
  },
);

test("needs the role operator, and an existing replay", async () => {
  expect((await ask("", everything, "user")).status).toBe(403);
  expect((await ask("/preview", everything, "user")).status).toBe(403);
  expect((await ask("/rpl_0/stop", null)).status).toBe(404);
  expect((await app.as("operator", "/v1/replays/rpl_0")).status).toBe(404);
});
