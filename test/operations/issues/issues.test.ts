import { afterAll, beforeEach, describe, expect, test } from "bun:test";

import { ne, sql } from "drizzle-orm";

import { statementsOver, write } from "../../../src/db/statement.ts";
import { deliveriesTable } from "../../../src/outbound/model/delivery.ts";
import { json, jsonWith, startApp, until } from "../../support/app.ts";
import { testGateway } from "../../support/gateway.ts";
import { listed } from "../../support/operator.ts";
import { appPerTest } from "../../support/running-app.ts";

/** What the retry schedule does after some seven hours. */
const killDeliveries = statementsOver({ deliveries: deliveriesTable })()((db, { deliveries }) =>
  db
    .update(deliveries)
    .set({ status: "dead", dueAt: null })
    .where(ne(deliveries.status, "delivered")),
);

const deadLetters = 540;
const others = [...Array(30).keys(), deadLetters - 1];
/** The newest dead letter and the 30 oldest have another cause than those between, more than one read of them. */
const killForTwoCauses = statementsOver({ deliveries: deliveriesTable })()((db, { deliveries }) =>
  db
    .update(deliveries)
    .set({
      status: "dead",
      dueAt: null,
      leasedUntil: null,
      lastError: sql`case when (select count(*) from deliveries earlier where earlier.notification < ${deliveries.notification}) in (${sql.raw(others.join())}) then 'HTTP 500' else 'HTTP 404' end`,
    })
    .where(ne(deliveries.status, "delivered")),
);

const dayMs = 86_400_000;

describe("issues", () => {
  let status = 503;
  const gateway = testGateway((number) => new Response(`try ${number}`, { status }));
  afterAll(() => gateway.stop());
  beforeEach(() => {
    status = 503;
  });
  const app = appPerTest(gateway.env);

  const found = () => listed(app, "/v1/issues");
  const kinds = async () =>
    (await found()).map(({ kind, provider }) => `${String(kind)} ${String(provider)}`);
  const act = (id: unknown, verb: string, body?: object) =>
    app.as("operator", `/v1/issues/${String(id)}/${verb}`, {
      method: "POST",
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    });
  const reject = (provider: string, body = "{}") =>
    app.deliver(provider, body, { secret: "another" });
  const kill = () => app.services.storage.atomically(write(killDeliveries, {}));

  test("are none on a server where nothing fails", async () => {
    expect(await found()).toEqual([]);
  });

  test("name a provider without a secret first", async () => {
    const settings = { WEBHOOK_PROVIDERS: "code_host", CODE_HOST_WEBHOOK_SECRET: undefined };
    await using fresh = await startApp(settings);
    expect(await listed(fresh, "/v1/issues")).toMatchObject([
      { kind: "secret-missing", cause: "no-secret", provider: "code_host", count: 0 },
    ]);
  });

  test("group rejected deliveries by provider and reason, for a day", async () => {
    const before = new Date(app.clock.now()).toISOString();
    await reject("code_host");
    app.clock.advance(5_000);
    await reject("code_host", "{ }");
    await reject("task_tracker");
    const issues = await found();
    expect(issues.map(({ provider, count }) => [provider, count])).toEqual(
      expect.arrayContaining([
        ["code_host", 2],
        ["task_tracker", 1],
      ]),
    );
    const issue = issues.find(({ provider }) => provider === "code_host");
    expect(issue).toMatchObject({
      kind: "rejected",
      cause: "wrong-signature",
      destination: null,
      firstSeenAt: before,
      canRetry: false,
      mutedUntil: null,
    });
    expect(String(issue?.["advice"])).toContain("Compare the secret");
    const path = `/v1/rejections/${String(issue?.["rejectionId"])}`;
    expect(await json(await app.as("operator", path))).toMatchObject({ provider: "code_host" });
    expect((await act(issue?.["id"], "retry")).status).toBe(400);
    app.clock.advance(dayMs + 1_000);
    expect(await found()).toEqual([]);
  });

  test("group failing deliveries by provider, destination and status, not by text", async () => {
    await app.deliverSample("code_host", "package.published");
    await app.deliverSample("code_host", "workflow_run.completed");
    await app.deliverSample("deploy_platform", "deploy.error");
    await until(
      async () => (await found()).reduce((sum, { count }) => sum + Number(count), 0) === 3,
    );
    expect(await found()).toMatchObject([
      { kind: "retrying", cause: "HTTP 503", destination: "operator-gateway", canRetry: true },
      { kind: "retrying", cause: "HTTP 503", destination: "operator-gateway", canRetry: true },
    ]);
  });

  test("of waiting deliveries are retried by provider, and the others keep waiting", async () => {
    await app.deliverSample("code_host", "package.published");
    await app.deliverSample("code_host", "workflow_run.completed");
    await app.deliverSample("deploy_platform", "deploy.error");
    const counts = async () =>
      Object.fromEntries((await found()).map(({ provider, count }) => [String(provider), count]));
    await until(async () => Bun.deepEquals(await counts(), { code_host: 2, deploy_platform: 1 }));
    const issue = (await found()).find(({ provider }) => provider === "code_host");
    status = 200;
    expect(await json(await act(issue?.["id"], "retry"))).toEqual({ retried: 2 });
    await until(async () => Bun.deepEquals(await counts(), { deploy_platform: 1 }));
  });

  test("of dead letters are retried by provider", async () => {
    await app.deliverSample("code_host", "package.published");
    await app.deliverSample("deploy_platform", "deploy.error");
    // No attempt is on its way, which would settle after the kill.
    await until(async () =>
      (await listed(app, "/v1/events?include=delivery")).every(
        ({ delivery }) => delivery !== "pending",
      ),
    );
    await kill();
    expect((await kinds()).toSorted()).toEqual([
      "dead-letters code_host",
      "dead-letters deploy_platform",
    ]);
    const issue = (await found()).find(({ provider }) => provider === "code_host");
    status = 200;
    expect(await json(await act(issue?.["id"], "retry"))).toEqual({
      retried: issue?.["count"],
    });
    await until(async () => (await kinds()).join() === "dead-letters deploy_platform");
    const states = async () =>
      (await listed(app, "/v1/events?include=delivery&provider=code_host")).map(
        ({ delivery }) => delivery,
      );
    await until(async () => (await states()).every((state) => state === "delivered"));
    expect((await act(issue?.["id"], "retry")).status).toBe(404);
    const [entry] = await listed(app, "/v1/audit", "admin");
    expect(entry).toMatchObject({
      action: "issue.retried",
      subject: "dead-letters code_host operator-gateway",
    });
  });

  test("of dead letters are retried completely, also those older than another cause", async () => {
    for (let sent = 0; sent < deadLetters; sent += 1) {
      app.clock.advance(1);
      await app.deliverSample("code_host", "package.published");
    }
    await app.services.storage.atomically(write(killForTwoCauses, {}));
    const issue = (await found()).find(({ cause }) => cause === "HTTP 500");
    expect(issue).toMatchObject({ kind: "dead-letters", count: 1, hasMore: true });
    expect(await json(await act(issue?.["id"], "retry"))).toEqual({ retried: 31 });
  });

  test("are muted until a time, and come last meanwhile", async () => {
    await reject("code_host");
    await reject("task_tracker");
    const [issue] = await found();
    const until = new Date(app.clock.now() + 3_600_000).toISOString();
    expect(await json(await act(issue?.["id"], "mute", { until }))).toMatchObject({
      id: issue?.["id"],
      mutedUntil: until,
    });
    expect((await found()).at(-1)).toMatchObject({ id: issue?.["id"], mutedUntil: until });
    expect(await json(await act(issue?.["id"], "unmute"))).toMatchObject({ mutedUntil: null });
    await act(issue?.["id"], "mute", { until });
    app.clock.advance(3_600_001);
    expect((await found())[0]).toMatchObject({ id: issue?.["id"], mutedUntil: null });
  });

  test("refuse a mute without a time in the next days", async () => {
    await reject("task_tracker");
    const [issue] = await found();
    for (const until of [
      undefined,
      7,
      "tomorrow",
      "2020-01-01T00:00:00Z",
      "9999-01-01T00:00:00Z",
      // November has 30 days. `Date` would read the first of December.
      "2026-11-31T00:00:00Z",
    ]) {
      const response = await act(issue?.["id"], "mute", { until });
      expect(await jsonWith(response, 422)).toMatchObject({ errors: [{ pointer: "/until" }] });
    }
  });

  test("open circuits are one issue, with what waits for the destination", async () => {
    status = 500;
    for (let sent = 0; sent < 12; sent += 1)
      await app.deliverSample("code_host", "package.published");
    await until(async () => (await kinds()).includes("circuit-open null"));
    const [first] = await found();
    expect(first).toMatchObject({
      kind: "circuit-open",
      destination: "operator-gateway",
      canRetry: false,
    });
    expect((await kinds()).filter((kind) => kind.startsWith("retrying"))).toEqual([]);
    const refused = await act(first?.["id"], "retry");
    expect(refused.status).toBe(400);
    expect(String((await json(refused))["detail"])).toContain("Sending is suspended");
    // A probe fails: the same issue, with another count.
    app.clock.advance(30_000);
    await until(async () => (await found())[0]?.["cause"] !== first?.["cause"]);
    expect((await found())[0]?.["id"]).toBe(first?.["id"]);
  });

  test("are for operators", async () => {
    await reject("task_tracker");
    const [issue] = await found();
    const path = `/v1/issues/${String(issue?.["id"])}`;
    for (const [method, at] of [
      ["GET", "/v1/issues"],
      ["POST", `${path}/retry`],
      ["POST", `${path}/unmute`],
    ] as const) {
      expect((await app.as("user", at, { method })).status).toBe(403);
    }
  });
});
