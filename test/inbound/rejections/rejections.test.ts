import { beforeAll, describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { listed } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

describe("GET /v1/rejections", () => {
  const minuteMs = 60_000;
  /** Provider and reason of what a query finds, newest first. */
  const found = async (query: string) =>
    (await listed(app, `/v1/rejections?${query}`)).map(
      ({ provider, reason }) => `${String(provider)} ${String(reason)}`,
    );

  const app = appForAll();
  /** Rejections at 09:00, 09:01, 09:02 and 09:03. */
  beforeAll(async () => {
    const unsigned = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    };
    await app.deliver("code_host", '{"action":"published","package":{"name":"web"}}', {
      secret: "another secret",
      headers: { "x-github-event": "package" },
    });
    app.clock.advance(minuteMs);
    await app.fetch("/webhooks/task_tracker", unsigned);
    app.clock.advance(minuteMs);
    await app.deliver("task_tracker", "{}", { secret: "another secret" });
    app.clock.advance(minuteMs);
    await app.fetch("/webhooks/code_host", unsigned);
  });

  const [first, second, third, fourth] = [
    "code_host wrong-signature",
    "task_tracker missing-signature",
    "task_tracker wrong-signature",
    "code_host missing-signature",
  ];

  test.each([
    ["from=2026-11-21T09:02:00Z", [fourth, third]],
    ["from=2026-11-21T09:02:00.001Z", [fourth]],
    ["to=2026-11-21T09:02:00Z", [second, first]],
    ["from=2026-11-21T10:01:00%2B01:00&to=2026-11-21T09:03:00Z", [third, second]],
    ["from=2026-11-21T10:01:00+01:00&to=2026-11-21 10:03:00 +01", [third, second]],
    ["from=2026-11-21T09:02:00Z&to=2026-11-21T09:02:00Z", []],
    ["reason=missing-signature", [fourth, second]],
    ["reason=missing-signature&provider=task_tracker", [second]],
    ["reason=wrong-signature&from=2026-11-21T09:01:00Z", [third]],
    ["reason=stale-timestamp", []],
  ])("%s lists %p", async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });

  test("adds cause and claimed type of each only if asked for", async () => {
    const query = "to=2026-11-21T09:01:00Z";
    const [oldest] = await listed(app, `/v1/rejections?include=cause&${query}`);
    expect(oldest).toMatchObject({ cause: "unknown", type: "package.published" });
    const [plain] = await listed(app, `/v1/rejections?${query}`);
    expect(Object.keys(plain ?? {})).not.toContain("cause");
  });

  test("counts and pages within a time range", async () => {
    const range = "from=2026-11-21T09:01:00Z&to=2026-11-21T09:03:00Z";
    const page = await app.as("operator", `/v1/rejections?${range}&limit=1&include=total`);
    const { data, pagination } = await json(page);
    expect(data).toHaveLength(1);
    expect(pagination).toMatchObject({ hasMore: true, total: 2 });
    const { nextCursor } = Object(pagination);
    expect(await found(`${range}&limit=1&cursor=${String(nextCursor)}`)).toEqual([second]);
    expect(await found(`${range}&limit=1&direction=backward`)).toEqual([second]);
  });

  test.each([
    ["reason=", "reason"],
    ["reason=unknown", "reason"],
    ["reason=wrong-signature&reason=wrong-signature", "reason"],
    ["from=2026-11-21", "from"],
    ["from=2026-02-29T00:00:00Z", "from"],
    ["to=2026-11-21T09:00:00", "to"],
    ["from=2026-11-21T09:00:01Z&to=2026-11-21T09:00:00Z", "to"],
  ])("rejects %s", async (query, parameter) => {
    expect(await jsonWith(await app.as("operator", `/v1/rejections?${query}`), 400)).toMatchObject({
      code: "invalid-parameter",
      errors: [{ parameter }],
    });
  });
});
