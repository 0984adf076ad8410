import { describe, expect, test } from "bun:test";

import { json, signed } from "../../support/app.ts";
import { listed } from "../../support/operator.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest({ TRUSTED_PROXY_HOPS: "1" });

const rejected = () => listed(app, "/v1/rejections?include=cause&limit=100");

describe("a slash at the end", () => {
  test("is the same route", async () => {
    const request = signed(
      "task_tracker",
      '{"event_name":"item:added","event_data":{"id":"1"}}',
      app.clock,
    );
    const statuses: unknown[] = [];
    for (const end of ["/", "", "/?x=1"]) {
      const answer = await json(await app.fetch(`/webhooks/task_tracker${end}`, request));
      statuses.push(answer["status"]);
    }
    expect(statuses).toEqual(["accepted", "duplicate", "duplicate"]);
    expect(await listed(app, "/v1/events")).toHaveLength(1);
  });

  test.each([
    ["GET", "/webhooks/code_host/", 405, "method-not-allowed"],
    ["PUT", "/webhooks/code_host/", 405, "method-not-allowed"],
    ["POST", "/webhooks/code_host/", 401, "invalid-signature"],
    ["POST", "/webhooks/none/", 404, "unknown-provider"],
    ["GET", "/webhooks/none/", 404, "unknown-provider"],
    ["POST", "/webhooks/code_host//", 404, "unknown-provider"],
    ["POST", "/webhooks/", 404, "unknown-provider"],
  ])("%s %s is %d %s", async (method, path, status, code) => {
    const answer = await app.fetch(path, { method });
    expect(answer.status).toBe(status);
    expect(await json(answer)).toMatchObject({ code });
  });
});

describe("a path of no provider", () => {
  test.each([
    ["POST", "/webhooks/codehost", "/webhooks/codehost", "code_host (GitHub)"],
    ["POST", "/webhooks/GitHub", "/webhooks/GitHub", "code_host (GitHub)"],
    ["POST", "/webhooks/code_host/events", "/webhooks/code_host/…", "code_host (GitHub)"],
    ["POST", "/webhooks/code_host//", "/webhooks/code_host/…", "code_host (GitHub)"],
    [
      "GET",
      "/webhooks/shared-inbox?token=hidden",
      "/webhooks/shared-inbox",
      "shared_inbox (Front)",
    ],
    ["POST", "/webhooks/zzzzzzzz", "/webhooks/zzzzzzzz", null],
    ["POST", "/webhooks/", "/webhooks/", null],
    ["POST", `/webhooks/${"y".repeat(22)}`, "/webhooks/…", null],
    ["POST", `/webhooks/none/${"y".repeat(500)}`, "/webhooks/none/…", null],
  ])("%s %s is shown to operators, with advice", async (method, sent, path, meant) => {
    const body = method === "POST" ? { body: "secret of the sender" } : {};
    const answer = await app.fetch(sent, { method, ...body, headers: { "x-key": "hidden" } });
    expect(answer.status).toBe(404);
    const [rejection, ...others] = await rejected();
    expect(others).toEqual([]);
    expect(rejection).toMatchObject({
      provider: "unknown",
      reason: "unknown-provider",
      cause: "unknown-provider",
      type: path,
      headers: { ":path": path, "x-key": "" },
    });
    const read = await json(
      await app.as("operator", `/v1/rejections/${String(rejection?.["id"])}`),
    );
    expect(read).toMatchObject({ body: null, explanation: { cause: "unknown-provider" } });
    const { detail } = Object(read["explanation"]);
    expect(detail).toContain(`the path ${path}, so`);
    expect(detail).toContain(
      meant === null ? "Registered: task_tracker, " : `Did you mean ${meant}?`,
    );
    expect(JSON.stringify(read)).not.toContain("hidden");
  });

  test("is one issue and one series, whatever the paths", async () => {
    for (const path of ["a", "b/c", "d/"]) await app.fetch(`/webhooks/${path}`, { method: "POST" });
    const issues = await listed(app, "/v1/issues");
    expect(issues.filter(({ kind }) => kind === "rejected")).toMatchObject([
      { provider: "unknown", cause: "unknown-provider", count: 3 },
    ]);
    const metrics = await (await app.fetch("/metrics")).text();
    expect(metrics).toContain(
      'skyhook_webhook_receipts_total{provider="unknown",verdict="rejected"} 3\n',
    );
    expect(metrics).not.toContain("webhooks/");
  });

  test("the last 200 are kept, and 20 a minute of an address", async () => {
    await app.deliver("task_tracker", "{}", { secret: "wrong" });
    const send = (n: number, from: string) =>
      app.fetch(`/webhooks/${n}`, { method: "POST", headers: { "x-forwarded-for": from } });
    for (let n = 0; n < 300; n += 1) expect((await send(n, "192.0.2.1")).status).toBe(404);
    expect(await rejected()).toHaveLength(21);
    for (let n = 0; n < 300; n += 1) await send(n, `198.51.100.${n % 250}`);
    const unknown = await json(
      await app.as("operator", "/v1/rejections?provider=unknown&limit=1&include=total"),
    );
    expect(unknown).toMatchObject({ pagination: { total: 200 } });
    expect(await listed(app, "/v1/rejections?provider=task_tracker")).toHaveLength(1);
  });
});
