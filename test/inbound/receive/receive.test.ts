import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";

import { json, jsonWith, sample, signed } from "../../support/app.ts";
import { expectLimited } from "../../support/limited.ts";
import { resources } from "../../support/resources.ts";
import { appPerTest } from "../../support/running-app.ts";

const taken = resources();
const app = appPerTest();

const task = (id: number, extra = "") =>
  `{"event_name":"item:completed","event_data":{"id":"${id}","content":"Rotate"}${extra}}`;

async function listed(path: string): Promise<Record<string, unknown>[]> {
  const { data } = await json(await app.as("operator", path));
  return Array.isArray(data) ? data : [];
}

describe("a verified delivery", () => {
  test("returns the id, idempotency key and type of the stored event", async () => {
    const headers = { "x-tasktracker-delivery-id": "d-1" };
    const response = await app.deliver("task_tracker", task(1), { headers });
    expect(response.status).toBe(200);
    const [event] = await listed("/v1/events");
    expect(await json(response)).toEqual({
      status: "accepted",
      id: event?.["id"],
      idempotencyKey: "task_tracker:d-1",
      event: "task.completed",
    });
    expect(event).toMatchObject({ provider: "task_tracker", status: "accepted" });
  });

  test("is verified and stored as the bytes that were sent", async () => {
    const body = ` { "event_name":"item:completed",\r\n "event_data": {"id":"1", "n": 1.0, "k": "\\u00e9\\/"} } `;
    const { id } = await json(await app.deliver("task_tracker", body));
    const event = await json(await app.as("operator", `/v1/events/${String(id)}`));
    expect(event["body"]).toBe(body);
  });

  test("is not stored if one of its notifications cannot be", async () => {
    const file = taken.newFile();
    await app.restart({ DATABASE_URL: `sqlite:${file}` });
    using other = new Database(file);
    other.run(
      "create trigger broken before insert on notifications begin select raise(abort, 'broken'); end",
    );
    expect((await app.deliver("task_tracker", task(1))).status).toBe(500);
    expect(await listed("/v1/events")).toEqual([]);
    other.run("drop trigger broken");
    const retried = await app.deliver("task_tracker", task(1));
    expect(await json(retried)).toMatchObject({ status: "accepted" });
    expect(await listed("/v1/notifications")).toHaveLength(1);
  });

  test("without a delivery id gets the hash of its body as the key", async () => {
    const body = task(2);
    const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex");
    const answer = await json(await app.deliver("task_tracker", body));
    expect(answer["idempotencyKey"]).toBe(`task_tracker:sha256:${hash}`);
  });

  test.each(["\u0000", "a b", "x".repeat(201), "ü"])(
    "with the invalid delivery id %j gets the hash of its body as the key",
    async (id) => {
      const headers = {
        "x-tasktracker-delivery-id": encodeURI(id) === id ? id : `a ${escape(id)}`,
      };
      const answer = await json(await app.deliver("task_tracker", task(3), { headers }));
      expect(answer["idempotencyKey"]).toStartWith("task_tracker:sha256:");
    },
  );

  test("of an unlisted type is ignored, stored under its own type, and sends no notification", async () => {
    const body = `{"event_name":"item:deleted","event_data":{"id":"4"}}`;
    const response = await app.deliver("task_tracker", body);
    expect(await jsonWith(response, 200)).toMatchObject({
      status: "ignored",
      event: "item:deleted",
    });
    expect(await listed("/v1/events?status=ignored")).toHaveLength(1);
    expect(await listed("/v1/notifications")).toHaveLength(0);
  });
});

test.each([
  ["text that is not JSON", Buffer.from("Hello, World!")],
  ["an empty body", Buffer.from("")],
  ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ["an array", Buffer.from("[1]")],
  ["null", Buffer.from("null")],
])(
  "a verified body that cannot be parsed (%s) returns 400 each time and is stored once, byte for byte",
  async (_, bytes) => {
    for (const round of [1, 2]) {
      const response = await app.deliver("task_tracker", bytes);
      expect([round, response.status]).toEqual([round, 400]);
      expect(await json(response)).toMatchObject({ code: "invalid-body" });
    }
    const kept = await listed("/v1/events?status=unreadable");
    expect(kept).toHaveLength(1);
    const timeline = await json(await app.as("operator", `/v1/events/${String(kept[0]?.["id"])}`));
    const { body, bodyEncoding } = timeline;
    const encoding = bodyEncoding === "base64" ? "base64" : "utf-8";
    expect(Buffer.from(String(body), encoding)).toEqual(bytes);
  },
);

describe("duplicates", () => {
  test("200 concurrent copies create one event, one notification and 199 duplicates", async () => {
    const { headers, body } = sample("code_host", "workflow_run.completed", app.clock);
    const request = signed("code_host", JSON.stringify(body), app.clock, { headers });
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => app.fetch("/webhooks/code_host", request)),
    );
    const answers = await Promise.all(responses.map(json));
    expect(answers.filter(({ status }) => status === "accepted")).toHaveLength(1);
    expect(answers.filter(({ status }) => status === "duplicate")).toHaveLength(199);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await listed("/v1/events")).toHaveLength(1);
    expect(await listed("/v1/notifications")).toHaveLength(1);
  });

  test("the same signed bytes with a forged id are a duplicate of the first [API10-2]", async () => {
    const send = (id: string) =>
      app.deliver("code_host", `{"action":"published","package":{"name":"web"}}`, {
        headers: { "x-github-event": "package", "x-github-delivery": id },
      });
    const first = await json(await send("one"));
    expect(await json(await send("two"))).toEqual({ ...first, status: "duplicate" });
  });

  test("another body with the same signed id is a duplicate", async () => {
    const body = (note: string) => `{"id":"evt_1","type":"inbound","note":"${note}"}`;
    const first = await json(await app.deliver("shared_inbox", body("a")));
    const second = await json(await app.deliver("shared_inbox", body("b")));
    expect(second).toEqual({ ...first, status: "duplicate" });
  });

  test("equal ids from two providers are two events", async () => {
    const body = `{"id":"evt_1","type":"inbound"}`;
    const answers = await Promise.all(
      ["shared_inbox", "deploy_platform"].map(async (id) => json(await app.deliver(id, body))),
    );
    expect(new Set(answers.map(({ id }) => id)).size).toBe(2);
  });

  test("are counted in the receipt of the first event", async () => {
    for (const _ of [1, 2, 3]) await app.deliver("task_tracker", task(1));
    const [event] = await listed("/v1/events");
    const timeline = await json(await app.as("operator", `/v1/events/${String(event?.["id"])}`));
    expect(timeline["receipt"]).toMatchObject({ duplicates: 2 });
  });
});

describe("invalid requests, in the order of the checks", () => {
  test.each(["nobody", "Task_tracker", "task_tracker%20", "..%2ftask_tracker", "task_tracker%00"])(
    "returns 404 unknown-provider for %s, for every method",
    async (name) => {
      for (const method of ["POST", "GET", "DELETE"]) {
        const response = await app.fetch(`/webhooks/${name}`, { method });
        expect(await jsonWith(response, 404)).toMatchObject({ code: "unknown-provider" });
      }
    },
  );

  test("returns the same 404 for an unregistered provider as for an unknown one [API9-3]", async () => {
    await app.restart({ WEBHOOK_PROVIDERS: "task_tracker" });
    const known = await app.fetch("/webhooks/payment_processor", { method: "POST" });
    const unknown = await app.fetch("/webhooks/nobody", { method: "POST" });
    expect(known.status).toBe(404);
    const problemOf = async (response: Response) => {
      const { type, title, status, detail, code } = await json(response);
      return { type, title, status, detail, code };
    };
    expect(await problemOf(known)).toEqual(await problemOf(unknown));
  });

  test.each(["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "returns 405 with Allow for %s",
    async (method) => {
      const response = await app.fetch("/webhooks/task_tracker", { method });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
    },
  );

  test("returns 415 for a compressed body and stores the rejection", async () => {
    const headers = { "content-encoding": "gzip" };
    const response = await app.deliver("task_tracker", Bun.gzipSync(task(1)), { headers });
    expect(response.status).toBe(415);
    expect(response.headers.get("accept-encoding")).toBe("identity");
    expect(response.headers.get("accept")).toBe("application/json");
    expect(await listed("/v1/rejections")).toMatchObject([{ reason: "unsupported-encoding" }]);
  });

  test("returns 413 for a body one byte over the limit and stores the rejection, 200 at the limit", async () => {
    const limit = 5 * 1024 * 1024;
    const padded = (length: number) => task(1).padEnd(length, " ");
    expect((await app.deliver("task_tracker", padded(limit + 1))).status).toBe(413);
    expect(await listed("/v1/rejections")).toMatchObject([{ reason: "body-too-large" }]);
    expect((await app.deliver("task_tracker", padded(limit))).status).toBe(200);
  });

  test("aborts an oversized body without Content-Length while it streams in [API4-1]", async () => {
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    const response = await app.fetch("/webhooks/task_tracker", { method: "POST", body: endless });
    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(10);
  });

  test("returns the same 401 for every signature error; only operators see the reason [API10-1]", async () => {
    const header = "x-tasktracker-hmac-sha256";
    const good = signed("task_tracker", task(1), app.clock);
    const { [header]: mac = "", ...others } = Object.fromEntries(new Headers(good.headers));
    const attempts = [
      { [header]: "" },
      { [header]: "AAAA" },
      { [header]: `${mac}, ${mac}` },
      { [header]: mac.replace(/^./, (first) => (first === "A" ? "B" : "A")) },
      {},
    ];
    const bodies = new Set<string>();
    for (const extra of attempts) {
      const headers = { ...others, ...extra, "x-request-id": "same" };
      const response = await app.fetch("/webhooks/task_tracker", { ...good, headers });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBeNull();
      bodies.add(await response.text());
    }
    expect(bodies.size).toBe(1);
    const reasons = (await listed("/v1/rejections")).map(({ reason }) => reason);
    expect(reasons).toEqual([
      "missing-signature",
      "wrong-signature",
      "several-signatures",
      "malformed-signature",
      "malformed-signature",
    ]);
  });

  test("stores unsupported-scheme as the reason for a webhook of a Front application", async () => {
    const headers = { "x-front-request-timestamp": "1", "x-inbox-signature": "AAAA" };
    expect((await app.deliver("shared_inbox", "{}", { headers })).status).toBe(401);
    expect(await listed("/v1/rejections")).toMatchObject([{ reason: "unsupported-scheme" }]);
  });

  test("returns 503 with Retry-After while the provider has no secret", async () => {
    await app.restart({ CODE_HOST_WEBHOOK_SECRET: undefined });
    const response = await app.deliver("code_host", "{}");
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("60");
  });

  test("stores at most 20 rejections a minute per address that were not checked for a signature", async () => {
    await app.restart({ TRUSTED_PROXY_HOPS: "1" });
    const compressed = (from: string) =>
      app.fetch("/webhooks/code_host", {
        method: "POST",
        body: "x",
        headers: { "content-encoding": "gzip", "x-forwarded-for": from },
      });
    for (let count = 0; count < 30; count += 1) await compressed("192.0.2.1");
    await compressed("192.0.2.2");
    expect(await listed("/v1/rejections?limit=100")).toHaveLength(21);
  });
});

describe("the failure limiter", () => {
  const wrong = (from: string) =>
    app.fetch("/webhooks/task_tracker", {
      method: "POST",
      body: task(1),
      headers: { "x-forwarded-for": from, "x-tasktracker-hmac-sha256": "no" },
    });
  const right = (from: string, id: number) =>
    app.deliver("task_tracker", task(id), { headers: { "x-forwarded-for": from } });

  test("returns 429 after 20 failures from an address until the minute has passed", async () => {
    await app.restart({ TRUSTED_PROXY_HOPS: "1" });
    for (let count = 1; count <= 20; count += 1)
      expect((await wrong("192.0.2.1")).status).toBe(401);
    app.clock.advance(15_000);
    const limited = await right("192.0.2.1", 1);
    await expectLimited(limited, '"auth-failures";q=20;w=60', 45, "too-many-auth-failures");
    expect((await right("192.0.2.2", 1)).status).toBe(200);
    app.clock.advance(45_000);
    expect((await right("192.0.2.1", 2)).status).toBe(200);
  });

  test("returns no more than 20 times 401 to a burst of wrong signatures", async () => {
    await app.restart({ TRUSTED_PROXY_HOPS: "1" });
    const responses = await Promise.all(Array.from({ length: 100 }, () => wrong("192.0.2.1")));
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(20);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(80);
  });

  test("returns 429 for a body that arrives after the address was blocked", async () => {
    await app.restart({ TRUSTED_PROXY_HOPS: "1" });
    const send = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const body = new ReadableStream({
      async pull(controller) {
        began.resolve();
        await send.promise;
        controller.enqueue(Buffer.from(task(1)));
        controller.close();
      },
    });
    const headers = { "x-forwarded-for": "192.0.2.1" };
    const request = signed("task_tracker", task(1), app.clock, { headers });
    const late = app.fetch("/webhooks/task_tracker", { ...request, body });
    await began.promise;
    for (let count = 1; count <= 20; count += 1) await wrong("192.0.2.1");
    send.resolve();
    expect((await late).status).toBe(429);
  });

  test("does not count unknown providers, wrong methods and unreadable bodies", async () => {
    await app.restart({ TRUSTED_PROXY_HOPS: "1" });
    const headers = { "x-forwarded-for": "192.0.2.1" };
    for (let count = 0; count < 30; count += 1) {
      await app.fetch("/webhooks/nobody", { method: "POST", headers });
      await app.fetch("/webhooks/task_tracker", { headers });
      await app.deliver("task_tracker", `not json ${count}`, { headers });
    }
    expect((await right("192.0.2.1", 1)).status).toBe(200);
  });

  test("counts the IPv6 addresses of a /64 as one client", async () => {
    await app.restart({ TRUSTED_PROXY_HOPS: "1" });
    for (let count = 1; count <= 20; count += 1) await wrong(`2001:db8:1:2::${count}`);
    expect((await right("2001:db8:1:2:ffff::1", 1)).status).toBe(429);
    expect((await right("2001:db8:1:3::1", 2)).status).toBe(200);
  });

  test("ignores X-Forwarded-For entries beyond the trusted proxies [API10-4]", async () => {
    await app.restart({ TRUSTED_PROXY_HOPS: "2" });
    for (let count = 1; count <= 20; count += 1)
      await wrong(`10.9.9.${count}, 192.0.2.1, 10.0.0.1`);
    expect((await right("203.0.113.9, 192.0.2.1, 10.0.0.1", 1)).status).toBe(429);
    expect((await right("192.0.2.7, 10.0.0.1", 2)).status).toBe(200);
  });
});
