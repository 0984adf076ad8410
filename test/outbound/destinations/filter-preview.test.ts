import { beforeAll, describe, expect, test } from "bun:test";

import { json, startApp } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { folderForTests } from "../../support/folder.ts";
import { itemsOf, timelineOf } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";
import { fileProviders } from "../../support/signed-request.ts";

describe("POST /v1/destinations/preview", () => {
  const slack = fileProviders(folderForTests(), ["slack"]);
  const app = appForAll();
  beforeAll(async () => {
    for (let sent = 0; sent < 60; sent += 1) {
      await app.deliverSample("task_tracker", "task.completed");
    }
    await app.deliverSample("deploy_platform", "deploy.error");
    await app.deliverSample("deploy_platform", "deploy.succeeded");
  });
  const preview = (filter: unknown, role: "user" | "operator" = "operator") =>
    app.as(role, "/v1/destinations/preview", post({ filter }));

  test("says for the newest 50 notifications whether they are delivered, and why not", async () => {
    const filter = 'event.provider == "deploy_platform" && event.severity == "error"';
    const result = await json(await preview(filter));
    expect(result["delivered"]).toBe(1);
    const [succeeded, failed, ...others] = itemsOf(result["notifications"]);
    expect(succeeded).toMatchObject({
      type: "deploy.succeeded",
      delivered: false,
      explanation: { clause: 'event.severity == "error"', values: { "event.severity": "success" } },
    });
    expect(failed).toMatchObject({ type: "deploy.error", delivered: true, explanation: null });
    expect(others).toHaveLength(48);
    expect(others[0]).toMatchObject({
      explanation: { values: { "event.provider": "task_tracker" } },
    });
  });

  test("delivers all without a filter, and what a filter cannot be evaluated for", async () => {
    expect(await json(await preview(null))).toMatchObject({ delivered: 50 });
    const result = await json(await preview("event.title.size() > 0 && int(event.type) > 1"));
    expect(result["delivered"]).toBe(50);
    expect(itemsOf(result["notifications"])[0]?.["error"]).toBeString();
  });

  test("leaves out events of the destination's own service unless the filter names it", async () => {
    await using own = await startApp(slack.env);
    const chat = { name: "chat", format: "slack", url: "https://hooks.slack.com/services/x" };
    await own.as("admin", "/v1/destinations", post(chat));
    const { id } = await json(await slack.post(own, "slack", "message"));
    // The event says the same of the destination.
    const explanation = {
      clause: 'event.provider != "slack"',
      values: { "event.provider": "slack" },
    };
    expect(await timelineOf(own, id)).toMatchObject([
      { deliveries: [{ destination: "chat", status: "filtered", filtered: explanation }] },
    ]);
    const tried = async (body: object) =>
      json(await own.as("operator", "/v1/destinations/preview", post({ filter: null, ...body })));
    for (const at of [{ format: "slack" }, { format: "json", url: "https://hooks.slack.com/x" }]) {
      expect(await tried(at)).toMatchObject({
        delivered: 0,
        notifications: [{ delivered: false, explanation }],
      });
      const filter = 'event.provider == "slack"';
      expect(await tried({ ...at, filter })).toMatchObject({ delivered: 1 });
    }
    for (const other of [{}, { format: "discord" }, { format: "json", url: "not yet a URL" }]) {
      expect(await tried(other)).toMatchObject({ delivered: 1 });
    }
  });

  test.each([
    ['event.typ == "x"', 422, "line 1, column 7: No such key: typ"],
    ["x".repeat(2_001), 422, "2000"],
    [5, 400, ""],
  ])("rejects a filter with its place (%#)", async (filter, status, detail) => {
    const response = await preview(filter);
    expect(response.status).toBe(status);
    const [error] = itemsOf((await json(response))["errors"]);
    expect(error).toMatchObject({ pointer: "/filter", detail: expect.stringContaining(detail) });
  });

  test("is for operators, because it shows events", async () => {
    expect((await preview(null, "user")).status).toBe(403);
  });
});
