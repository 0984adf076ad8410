import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

// Takes seconds: stores thousands of events, as one delivery may have.
import { placeIn } from "../../../src/base/ids.ts";
import { maxItems } from "../../../src/inbound/providers/interpret.ts";
import { json, until } from "../../support/app.ts";
import { folderForTests } from "../../support/folder.ts";
import { listed } from "../../support/operator.ts";
import { notificationRow, sentWrites } from "../../support/rows.ts";
import { appPerTest } from "../../support/running-app.ts";
import { fileProviders } from "../../support/signed-request.ts";

const folder = folderForTests();

const plain = `displayName: Plain
signature: { kind: hmac, algorithm: sha256, encoding: hex, from: header.x-signature, signs: "{body}" }
maxBodyBytes: 5000000
each: ""
event: '{/type ?? "heartbeat"}'
subject: "[thing/{/id}]"
title: "Thing[ {/id}][ of {delivery/0/type}]"
events: { opened: { severity: error } }
samples: { opened: { body: [{ type: opened }] } }
`;
const ids = "sendgrid hubspot gocardless line asana okta whatsapp facebook x".split(" ");
const providers = fileProviders(folder, ids, { plain });
const { env } = providers;
const app = appPerTest(env);

/** Posts a signed delivery, `seconds` from now by its signed time. */
const post = (id: string, body: unknown, seconds = 0) =>
  providers.post(app, id, { headers: {}, body: Object(body) }, seconds);

/** All stored events, oldest first. */
async function stored() {
  const events = await listed(app, "/v1/events?limit=100&include=severity");
  return events.toReversed();
}

const detail = async (id: unknown) => json(await app.as("operator", `/v1/events/${String(id)}`));

type Row = readonly [
  id: string,
  wrap: (items: readonly object[]) => unknown,
  items: readonly object[],
  /** Type, severity (null: ignored), a part of the title, subject and the key without the provider; null: a hash. */
  events: readonly (readonly [string, string | null, string, string | null, string | null])[],
  /** What the service's retry changes in an item. */
  retried?: object,
];

const message = (more: object) => ({ from: "16505551234", timestamp: "1767225600", ...more });
const change = (value: object, field = "messages") => ({ field, value });

const rows: readonly Row[] = [
  [
    "sendgrid",
    (items) => items,
    [
      { event: "delivered", email: "a@example.net", sg_event_id: "e1", sg_message_id: "m1" },
      { event: "bounce", email: "b@example.net", sg_event_id: "e2", reason: "500 unknown" },
      { event: "spamreport", email: "c@example.net", sg_event_id: "e3", sg_message_id: "m3" },
    ],
    [
      ["email.delivered", null, "a@example.net", "message/m1", "e1"],
      ["email.bounced", "error", "bounced: 500 unknown", null, "e2"],
      [
        "email.complained",
        "error",
        "E-mail to c@example.net was marked as spam",
        "message/m3",
        "e3",
      ],
    ],
  ],
  [
    "hubspot",
    (items) => items,
    [
      { subscriptionType: "contact.creation", objectId: 7, eventId: 1, attemptNumber: 0 },
      { subscriptionType: "contact.deletion", objectId: 8, eventId: 1, attemptNumber: 0 },
    ],
    [
      ["contact.created", "info", "Contact 7 created", "contact/7", null],
      ["contact.deleted", "warning", "Contact 8 deleted", "contact/8", null],
    ],
    { attemptNumber: 1 },
  ],
  [
    "gocardless",
    (events) => ({ events, meta: { webhook_id: crypto.randomUUID() } }),
    [
      { id: "EV1", resource_type: "payments", action: "confirmed", links: { payment: "PM1" } },
      { id: "EV2", resource_type: "payments", action: "failed", links: { payment: "PM2" } },
    ],
    [
      ["payments.confirmed", "success", "confirmed", "PM1", "EV1"],
      ["payments.failed", "error", "failed", "PM2", "EV2"],
    ],
  ],
  [
    "line",
    (events) => ({ destination: "U1", events }),
    [
      {
        type: "message",
        webhookEventId: "w1",
        message: { text: "Hello" },
        source: { userId: "U1" },
      },
      { type: "follow", webhookEventId: "w2", source: { userId: "U2" } },
    ],
    [
      ["message.received", "info", "LINE message: Hello", "user/U1", "w1"],
      ["user.followed", "success", "LINE: a user added the account", "user/U2", "w2"],
    ],
    { deliveryContext: { isRedelivery: true } },
  ],
  [
    "asana",
    (events) => ({ events }),
    [
      { action: "added", resource: { gid: "1", resource_type: "task", name: "Paint" } },
      { action: "deleted", resource: { gid: "2", resource_type: "task" } },
    ],
    [
      ["task.added", "info", "Task added: Paint", "task/1", null],
      ["task.deleted", "warning", "Task deleted: 2", "task/2", null],
    ],
  ],
  [
    "okta",
    (events) => ({ eventId: crypto.randomUUID(), data: { events } }),
    [
      { uuid: "u1", eventType: "user.session.start", displayMessage: "Login", severity: "INFO" },
      { uuid: "u2", eventType: "user.account.lock", displayMessage: "Locked", severity: "ERROR" },
    ],
    [
      ["user.session.start", "info", "Okta: Login", null, "u1"],
      ["user.account.lock", "error", "Okta: Locked", null, "u2"],
    ],
  ],
  [
    "whatsapp",
    ([one, two, three]) => ({
      entry: [
        { changes: [change({ messages: [one] }), change({ statuses: [two] })] },
        { changes: [three] },
      ],
    }),
    [
      message({ id: "m1", type: "text", text: { body: "Hi" } }),
      { id: "m2", status: "failed", recipient_id: "1777", errors: [{ title: "Blocked" }] },
      change({ event: "DISABLED" }, "account_update"),
    ],
    [
      ["message.received", "info", "WhatsApp from 16505551234: Hi", "contact/16505551234", null],
      ["message.failed", "error", "WhatsApp message to 1777 failed: Blocked", "contact/1777", null],
      ["account_update", "warning", "account update", null, null],
    ],
  ],
  [
    "facebook",
    (items) => ({
      object: "page",
      entry: items.map((item) => ({ ["field" in item ? "changes" : "messaging"]: [item] })),
    }),
    [
      change({ post_id: "1_2", item: "comment", verb: "add", message: "On time?" }, "feed"),
      { sender: { id: "7" }, message: { mid: "m1", text: "Hi" } },
      { sender: { id: "7" }, message: { mid: "m1", is_deleted: true } },
      { sender: { id: "7" }, read: { watermark: 1 } },
      { sender: { id: "7" }, policy_enforcement: { action: "block", reason: "Spam" } },
    ],
    [
      ["feed.changed", "info", "comment add: On time?", "post/1_2", null],
      ["message.received", "info", "Message from 7: Hi", "sender/7", null],
      ["message.received", "info", "Message from 7, deleted: true", "sender/7", null],
      ["message.read", null, "Facebook: read", "sender/7", null],
      ["policy.enforced", "error", "Policy: block: Spam", "sender/7", null],
    ],
  ],
  [
    "x",
    (items) => ({ for_user_id: "1", tweet_create_events: items }),
    [
      { id_str: "1", text: "One", user: { screen_name: "zoe" } },
      { id_str: "2", text: "Two", user: { screen_name: "kim" } },
    ],
    [
      ["post.created", "info", "Post by @zoe: One", "user/1", null],
      ["post.created", "info", "Post by @kim: Two", "user/1", null],
    ],
  ],
];

describe.each(rows)("a delivery of %s with several events", (id, wrap, items, events, retried) => {
  test("becomes one event for each item, with its own type, severity, title, subject and key", async () => {
    const response = await post(id, wrap(items));
    expect(response.status).toBe(200);
    const answer = await json(response);
    const all = await stored();
    expect(
      all.map(({ type, severity, title, subject, idempotencyKey }) => [
        type,
        severity,
        title,
        subject,
        String(idempotencyKey).replace(/^[a-z]+:(?:sha256:[0-9a-f]{64}$)?/, "") || null,
      ]),
    ).toEqual(
      events.map(([type, severity, title, ...others]) => [
        type,
        severity,
        expect.stringContaining(title),
        ...others,
      ]),
    );
    const first = all.find(({ status }) => status === "accepted");
    const { id: firstId, idempotencyKey, type: event } = { ...first };
    expect(answer).toEqual({ status: "accepted", id: firstId, idempotencyKey, event });
    const notified = await listed(app, "/v1/notifications");
    expect(notified).toHaveLength(events.filter(([, severity]) => severity !== null).length);
    for (const [index, { id: eventId }] of all.entries()) {
      const { receipt, body, previousItem, nextItem } = await detail(eventId);
      expect(receipt).toMatchObject({ item: index + 1, items: items.length, duplicates: 0 });
      expect(String(body)).toContain(JSON.stringify(items[index]));
      expect([previousItem, nextItem]).toEqual(
        [index - 1, index + 1].map((beside) => all[beside]?.["id"] ?? null),
      );
    }
  });

  test("is a duplicate when it comes again, and a retry stores only what is missing", async () => {
    const [last] = items.slice(-1);
    const others = id === "whatsapp" ? items : items.slice(0, -1);
    await post(id, wrap(others));
    const before = await stored();
    const again = items.map((item) => ({ ...item, ...retried }));
    expect(await json(await post(id, wrap(again), 7))).toMatchObject({
      status: id === "whatsapp" ? "duplicate" : "accepted",
    });
    expect(await json(await post(id, wrap(again), 9))).toMatchObject({ status: "duplicate" });
    const all = await stored();
    expect(all).toHaveLength(items.length);
    expect(all.slice(0, before.length)).toEqual(before);
    const newest = await detail(all.at(-1)?.["id"]);
    expect(newest["receipt"]).toMatchObject({ item: items.length, items: items.length });
    expect(String(newest["body"])).toContain(
      JSON.stringify({ ...last, ...(id === "whatsapp" ? {} : retried) }),
    );
    const counted = await Promise.all(
      all.map(async (event) => (await detail(event["id"]))["receipt"]),
    );
    expect(counted).toMatchObject(
      all.map((_, index) => ({ duplicates: index < before.length ? 2 : 1 })),
    );
  });
});

const things = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ type: "opened", id: from + index }));

describe("a delivery with several events", () => {
  test("is stored once when it comes several times at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, async (_, index) =>
        json(await post("plain", things(20 - index, index))),
      ),
    );
    for (const { status } of answers) expect(status).toBeOneOf(["accepted", "duplicate"]);
    const subjects = (await stored()).map(({ subject }) => subject);
    expect(subjects).toHaveLength(20);
    expect(new Set(subjects)).toEqual(new Set(things(20).map(({ id }) => `thing/${id}`)));
    expect(await listed(app, "/v1/notifications?limit=100")).toHaveLength(20);
  });

  test.each([
    ["numbers, texts and nulls", [1, "a", null, true, null], 4],
    ["nested arrays", [[[1]], [[[]]], [{ type: "opened" }]], 3],
    ["equal items", [{ type: "opened" }, { type: "opened" }, { type: "other" }], 2],
    ["nothing", [], 1],
    ["an object where an array is expected", { type: "opened" }, 1],
    [
      "long texts",
      [{ type: "x".repeat(1_000_000) }, { type: "opened", id: "y".repeat(1_000_000) }],
      2,
    ],
  ])("of %s is stored", async (_, body, count) => {
    expect((await post("plain", body)).status).toBe(200);
    expect(await stored()).toHaveLength(count);
    expect(await json(await post("plain", body))).toMatchObject({ status: "duplicate" });
    expect(await stored()).toHaveLength(count);
  });

  test("tells items apart that only differ in a member __proto__, and reads deep ones", async () => {
    const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
    const text = `[{"__proto__":{"type":"opened"}},{"__proto__":{"type":"other"}},${deep},{}]`;
    const signature = new Bun.CryptoHasher("sha256", providers.secretOf("plain"))
      .update(text)
      .digest("hex");
    const headers = { "x-signature": signature };
    const sent = { method: "POST", headers, body: text };
    expect((await app.fetch("/webhooks/plain", sent)).status).toBe(200);
    expect((await stored()).map(({ type }) => type)).toEqual(Array(4).fill("heartbeat"));
  });

  test("is stored up to the limit, beside others, and a retry of a part of it adds the rest", async () => {
    await post("plain", things(100, 4_000));
    const [whole, part] = await Promise.all([
      post("plain", things(maxItems)),
      post("plain", things(1_000, 4_500)),
    ]);
    expect([whole.status, part.status]).toEqual([200, 200]);
    const count = async (path: string) =>
      (await json(await app.as("operator", `${path}?include=total&limit=1`)))["pagination"];
    const total = { total: maxItems + 500 };
    expect(await count("/v1/events")).toMatchObject(total);
    expect(await count("/v1/notifications")).toMatchObject(total);
    expect(await json(await post("plain", things(maxItems)))).toMatchObject({
      status: "duplicate",
    });
    expect(await count("/v1/events")).toMatchObject(total);
  });

  test("is rejected with 413 beyond the limit, and operators see it", async () => {
    expect((await post("plain", things(maxItems + 1))).status).toBe(413);
    expect(await stored()).toEqual([]);
    const [rejection] = await listed(app, "/v1/rejections");
    expect(rejection).toMatchObject({ reason: "too-many-items" });
    const path = `/v1/rejections/${String(rejection?.["id"])}`;
    expect(await json(await app.as("operator", path))).toMatchObject({
      explanation: { detail: expect.stringContaining("more than 5000 events") },
    });
  });

  test("is replayed item by item, by the file as it is now", async () => {
    await post("plain", things(3));
    const changed = plain.replace("Thing[ {/id}]", "Item[ {/id}]");
    const path = join(folder, "plain.yaml");
    try {
      writeFileSync(path, changed);
      app.services.reload();
      for (const { id } of await stored()) {
        expect(
          (await app.as("operator", `/v1/events/${String(id)}/replay`, { method: "POST" })).status,
        ).toBe(200);
      }
      expect((await stored()).map(({ title }) => title)).toEqual([
        "Item 0 of opened",
        "Item 1 of opened",
        "Item 2 of opened",
      ]);
    } finally {
      writeFileSync(path, plain);
    }
  });

  test("keeps its body as long as an item needs it", async () => {
    await app.restart({ ...env, EVENT_RETENTION_DAYS: "30", BODY_RETENTION_DAYS: "30" });
    await post("plain", things(3));
    const [first, second] = await stored();
    const event = placeIn("evt", String(second?.["id"]))?.position ?? 0;
    const added = notificationRow(1, { event });
    await app.services.storage.atomically(...sentWrites(added, { status: "dead" }));
    for (let hour = 0; hour < 29 * 24; hour += 1) app.clock.advance(3_600_000);
    expect(await detail(second?.["id"])).toMatchObject({ body: JSON.stringify(things(3)) });
    await until(async () => {
      app.clock.advance(3_600_000);
      return (await stored()).length < 3;
    });
    for (let round = 0; round < 3; round += 1) app.clock.advance(60_000);
    // The first is settled, but holds the body of the second.
    expect(await stored()).toMatchObject([{ id: first?.["id"] }, { id: second?.["id"] }]);
    expect(await detail(second?.["id"])).toMatchObject({
      body: null,
      receipt: { item: 2, items: 3 },
    });
  });
});
