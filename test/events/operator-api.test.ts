import { describe, expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import { insertEvent, reinterpretEvent } from "../../src/event/events.sql.ts";
import { json, jsonWith, sample } from "../support/app.ts";
import { eventRow } from "../support/rows.ts";
import { appPerTest } from "../support/running-app.ts";

const app = appPerTest();

const get = (path: string) => app.as("operator", path);
const items = async (response: Response): Promise<Record<string, unknown>[]> => {
  const { data } = await json(response);
  return Array.isArray(data) ? data : [];
};
const pagination = async (response: Response) => {
  const { pagination: found } = await json(response);
  return {
    ...(found as { hasMore: boolean; nextCursor: string | null; prevCursor: string | null }),
  };
};
const store = async (...numbers: number[]) => {
  for (const number of numbers) {
    await app.services.storage.atomically(write(insertEvent, eventRow(number)));
  }
};

test.each([
  ["GET", "/v1/events"],
  ["POST", "/v1/events/evt_1/replay"],
])("access to the operator API %s %s rejects the role user [API5-1]", async (method, path) => {
  const response = await app.as("user", path, { method });
  expect(await jsonWith(response, 403)).toMatchObject({ code: "insufficient-scope" });
});

describe("lists", () => {
  test("return an empty envelope if there is no data", async () => {
    for (const list of [
      "events",
      "events?include=severity,delivery",
      "notifications",
      "rejections",
    ]) {
      const response = await get(`/v1/${list}`);
      expect(response.headers.get("link")).toBeNull();
      expect(await json(response)).toEqual({
        data: [],
        pagination: { hasMore: false, nextCursor: null, prevCursor: null },
      });
    }
  });

  test("return 20 items by default and at most 100", async () => {
    await store(...Array.from({ length: 105 }, (_, n) => n));
    expect(await items(await get("/v1/events"))).toHaveLength(20);
    expect(await items(await get("/v1/events?limit=7"))).toHaveLength(7);
    expect(await items(await get("/v1/events?limit=100000"))).toHaveLength(100);
    expect(await items(await get("/v1/events?limit=99999999999999999999999"))).toHaveLength(100);
  });

  test("can be paged to the end and back with the Link header", async () => {
    await store(...Array.from({ length: 23 }, (_, n) => n));
    const seen: unknown[] = [];
    let path: string | undefined = "/v1/events?limit=5&provider=task_tracker";
    let last = path;
    for (; path !== undefined; path = linked(await get(path), "next")) {
      seen.push(...(await items(await get(path))).map(({ id }) => id));
      last = path;
    }
    expect(seen).toEqual(Array.from({ length: 23 }, (_, n) => eventRow(22 - n).id));
    const back: unknown[] = [];
    for (path = last; path !== undefined; path = linked(await get(path), "prev")) {
      back.unshift(...(await items(await get(path))).map(({ id }) => id));
    }
    expect(back).toEqual(seen);
  });

  test("return the last page for backward without a cursor", async () => {
    await store(1, 2, 3);
    expect(await json(await get("/v1/events?limit=2&direction=backward"))).toMatchObject({
      data: [{ id: eventRow(2).id }, { id: eventRow(1).id }],
      pagination: { hasMore: true },
    });
  });

  test("return cursors with numbered pages", async () => {
    await store(...Array.from({ length: 9 }, (_, n) => n));
    const { nextCursor } = await pagination(await get("/v1/events?page=2&limit=3"));
    const next = await items(await get(`/v1/events?limit=3&cursor=${nextCursor}`));
    expect(next.map(({ id }) => id)).toEqual([2, 1, 0].map((n) => eventRow(n).id));
  });

  test("include the total only if requested", async () => {
    await store(1, 2, 3);
    expect(await pagination(await get("/v1/events?limit=1"))).not.toHaveProperty("total");
    expect(await pagination(await get("/v1/events?limit=1&include=total"))).toMatchObject({
      total: 3,
    });
  });

  test("of events include the highest severity of each event's notifications only if requested", async () => {
    await app.deliverSample("code_host", "workflow_run.completed");
    await app.deliverSample("code_host", "package.published");
    const push = { headers: { "x-codehost-event": "push" } };
    await app.deliver("code_host", JSON.stringify({ ref: "refs/heads/main" }), push);
    const [, published] = await items(await get("/v1/events"));
    // A replay sends the same notifications again, which does not change the severity.
    await app.as("operator", `/v1/events/${String(published?.["id"])}/replay`, { method: "POST" });
    for (const query of ["include=severity", "include=severity,total", "include=total,severity"]) {
      const listed = await items(await get(`/v1/events?${query}`));
      expect(listed.map(({ severity }) => severity)).toEqual([null, "success", "error"]);
    }
    const page = await json(await get("/v1/events?include=severity,total&limit=1"));
    expect(page["pagination"]).toMatchObject({ total: 3, hasMore: true });
    for (const query of ["", "?include=total"]) {
      const [first] = await items(await get(`/v1/events${query}`));
      expect(first).not.toHaveProperty("severity");
    }
  });

  test.each([
    ["/v1/events", "include=severity,severity"],
    ["/v1/events", "include=severity,"],
    ["/v1/events", "include=xseverity"],
    ["/v1/events", "include="],
    ["/v1/notifications", "include=severity"],
  ])("%s?%s returns 400 for an unknown include", async (path, query) => {
    const response = await get(`${path}?${query}`);
    expect(await jsonWith(response, 400)).toMatchObject({ errors: [{ parameter: "include" }] });
  });

  test.each([
    ["limit=0", "invalid-parameter", "limit"],
    ["limit=-1", "invalid-parameter", "limit"],
    ["limit=", "invalid-parameter", "limit"],
    ["limit=1.5", "invalid-parameter", "limit"],
    ["limit=1e1", "invalid-parameter", "limit"],
    ["limit=%2B5", "invalid-parameter", "limit"],
    ["limit=%205", "invalid-parameter", "limit"],
    ["limit=٣", "invalid-parameter", "limit"],
    ["limit=1&limit=2", "invalid-parameter", "limit"],
    ["direction=up", "invalid-parameter", "direction"],
    ["direction=", "invalid-parameter", "direction"],
    ["direction=Forward", "invalid-parameter", "direction"],
    ["direction=forward&direction=forward", "invalid-parameter", "direction"],
    ["cursor=", "invalid-cursor", "cursor"],
    ["cursor=%00", "invalid-cursor", "cursor"],
    ["cursor=a&cursor=a", "invalid-parameter", "cursor"],
    ["page=0", "invalid-parameter", "page"],
    ["page=x", "invalid-parameter", "page"],
    ["page=501&limit=20", "invalid-parameter", "page"],
    ["page=99999999999999999999", "invalid-parameter", "page"],
    ["page=1&cursor=a", "conflicting-parameters", "page"],
    ["page=1&direction=forward", "conflicting-parameters", "page"],
    ["include=everything", "invalid-parameter", "include"],
    ["status=lost", "invalid-parameter", "status"],
    ["delivery=failed", "invalid-parameter", "delivery"],
    ["provider=", "invalid-parameter", "provider"],
    [`type=${"x".repeat(201)}`, "invalid-parameter", "type"],
    ["type=*.failed", "invalid-parameter", "type"],
  ])("return 400 for ?%s: %s", async (query, code, parameter) => {
    const response = await get(`/v1/events?${query}`);
    expect(await jsonWith(response, 400)).toMatchObject({ code, errors: [{ parameter }] });
  });

  test("reject a cursor from another list", async () => {
    await store(1);
    const { nextCursor } = await pagination(await get("/v1/events"));
    const response = await get(`/v1/notifications?cursor=${nextCursor}`);
    expect(await json(response)).toMatchObject({ code: "invalid-cursor" });
  });
});

describe("an event", () => {
  test("includes its timeline, without secrets and signatures [API10-10]", async () => {
    const { headers, body } = sample("code_host", "workflow_run.completed", app.clock);
    const text = JSON.stringify(body);
    const secretive = { authorization: "Bearer hush", cookie: "a=hush", "x-api-key": "hush" };
    const sent = await app.deliver("code_host", text, { headers: { ...headers, ...secretive } });
    const { id } = await json(sent);
    const response = await get(`/v1/events/${String(id)}`);
    const answer = await response.text();
    expect(JSON.parse(answer)).toMatchObject({
      id,
      provider: "code_host",
      type: "workflow_run.completed",
      status: "accepted",
      body: text,
      bodyEncoding: "utf-8",
      receipt: { signedWith: "current", bodyBytes: Buffer.byteLength(text), duplicates: 0 },
      notifications: [{ eventId: id, status: "delivered", attempts: [] }],
    });
    expect(answer).not.toContain("hush");
    expect(answer).not.toContain("x-codehost-signature-256");
    expect(answer).toContain("x-codehost-event");
  });

  test.each(["evt_0", "nonsense", "evt_%00", "evt_'--", `evt_${"0".repeat(500)}`])(
    "with the unknown id %s returns 404",
    async (id) => {
      for (const path of [`/v1/events/${id}`, `/v1/events/${id}/replay`]) {
        const method = path.endsWith("replay") ? "POST" : "GET";
        const response = await app.as("operator", path, { method });
        expect(await jsonWith(response, 404)).toMatchObject({ code: "not-found" });
      }
    },
  );

  test("is interpreted from the stored body and notified again by a replay", async () => {
    const { id } = await json(await app.deliverSample("task_tracker", "task.completed"));
    const before = await json(await get(`/v1/events/${String(id)}`));
    const [stored] = await items(await get("/v1/events"));
    // As if an older version had interpreted it wrongly.
    await app.services.storage.atomically(
      write(reinterpretEvent, {
        ...eventRow(1),
        id: stored?.["id"] as `evt_${string}`,
        title: "Old reading",
        status: "ignored",
      }),
    );
    const response = await app.as("operator", `/v1/events/${String(id)}/replay`, {
      method: "POST",
    });
    const after = await jsonWith(response, 200);
    expect({ ...after, notifications: [] }).toEqual({ ...before, notifications: [] });
    expect(after["notifications"]).toHaveLength(2);
  });
});

/** The target of a link relation in a response (RFC 8288). */
function linked(response: Response, rel: string): string | undefined {
  const link = response.headers.get("link") ?? "";
  return new RegExp(`<([^>]+)>; rel="${rel}"`).exec(link)?.[1];
}
