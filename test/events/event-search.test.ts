import { describe, expect, test } from "bun:test";

import { sql } from "drizzle-orm";
import fc from "fast-check";

import { positionIn, timeOfPosition } from "../../src/base/ids.ts";
import type { Place } from "../../src/db/place.ts";
import { statementsOver, write } from "../../src/db/statement.ts";
import type { StoredEvent } from "../../src/event/event.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { severities, type Severity } from "../../src/event/new-notification.ts";
import { deleteSettledEvents } from "../../src/events/retention/retention.sql.ts";
import {
  notificationsTable,
  type NotificationStatus,
} from "../../src/outbound/model/notification.ts";
import { json, jsonWith, until } from "../support/app.ts";
import { testGateway } from "../support/gateway.ts";
import { itemsOf, listed } from "../support/operator.ts";
import { eventRow, notificationRow, numberOf, sentWrites } from "../support/rows.ts";
import { appPerTest } from "../support/running-app.ts";
import { runs } from "../support/runs.ts";
import { notIndexed } from "../support/search.ts";

const app = appPerTest();

async function store(number: number, fields: Partial<StoredEvent> = {}): Promise<StoredEvent> {
  const row = eventRow(number, fields);
  await app.services.storage.atomically(write(insertEvent, row));
  return row;
}

/** `own`: the place of the event, for its first notification. */
async function notify(
  number: number,
  event: number | Place,
  status: NotificationStatus,
  severity: Severity = "info",
  own: { readonly position?: Place } = {},
): Promise<void> {
  const place = typeof event === "number" ? eventRow(event).place : event;
  const fields = { event: place, createdAt: timeOfPosition(place.position), severity, ...own };
  const row = notificationRow(number, fields);
  await app.services.storage.atomically(...sentWrites(row, { status, dueAt: null }));
}

const forgetNotifications = statementsOver({ notifications: notificationsTable })()(
  (db, { notifications }) =>
    db
      .delete(notifications)
      .where(sql`true`)
      .returning({ position: notifications.position }),
);

/** The numbers of the events that a query finds, newest first. */
async function found(query: Readonly<Record<string, string>>): Promise<number[]> {
  const items = await listed(app, `/v1/events?${new URLSearchParams(query).toString()}`);
  return items.map(({ id }) => numberOf(String(id)));
}

describe("GET /v1/events?q=", () => {
  test("finds words of the title, actor, subject and data, ignoring case and accents", async () => {
    await store(1, {
      title: "Déploiement of Website failed",
      actor: "octo-cat",
      subject: "deployment/dpl_7Q",
      data: {
        branch: "feature/login-page",
        number: 4711,
        note: null,
        isLate: true,
        url: "x?a=bcd",
      },
    });
    await store(2, { title: "another" });
    for (const q of [
      ..."website DEPLOIEMENT octo-cat dpl_7q deployment/dpl_7Q 4711 deploi*".split(" "),
      "feature/log*",
      "bcd",
      "déploiement failed",
      "login-page website",
      '"website failed"',
      '"of web"*',
      "DÉPL*",
      "DEPL*",
    ]) {
      expect([q, await found({ q })]).toEqual([q, [1]]);
    }
    for (const q of [
      "web",
      "failed another",
      '"failed website"',
      "branch",
      "true",
      "null",
      "log*in",
    ])
      expect([q, await found({ q })]).toEqual([q, []]);
  });

  test("finds a webhook as soon as it is acknowledged", async () => {
    const { id } = await json(await app.deliverSample("deploy_platform", "deploy.error"));
    const { title } = await json(await app.as("operator", `/v1/events/${String(id)}`));
    const items = await listed(app, `/v1/events?q=${encodeURIComponent(`"${String(title)}"`)}`);
    expect(items.map((item) => item["id"])).toEqual([id]);
  });

  test("accepts any text, and treats no character as syntax", async () => {
    await store(1, { title: "and or not near", data: {} });
    expect(await found({ q: "AND OR NOT NEAR" })).toEqual([1]);
    for (const q of [
      '"',
      '""',
      "*",
      "'",
      "\\",
      "\0",
      "and\0or",
      "title:x",
      "NEAR(a b, 5)",
      "a AND (",
      "-x",
      "^and ^",
      "=a61",
      "{a b}: c",
      "😀",
      "\ud800",
      "½ ﬁ ŉ ⑴",
      "' | !x:*",
      "%_",
      "a".repeat(200),
      "* ".repeat(100),
      "a ".repeat(100),
    ]) {
      const response = await app.as(
        "operator",
        `/v1/events?q=${encodeURIComponent(q.toWellFormed())}`,
      );
      expect([q, response.status]).toEqual([q, 200]);
    }
    // A column's exact value is not a word that can be searched for.
    const asWord = `=p${Buffer.from("task_tracker").toString("hex")}`;
    expect(await found({ q: asWord })).toEqual([]);
  });

  test("indexes text that is not valid JSON for PostgreSQL", async () => {
    await store(1, {
      title: "a\0b",
      data: { x: "one\0two", y: "\ud800", z: 'three "four\\" five\n six' },
    });
    for (const q of ["one", "two", "three four five", "six"])
      expect(await found({ q })).toEqual([1]);
  });

  test("finds what a replay has changed, and not what retention has deleted", async () => {
    await store(1, { title: "before the replay", body: null });
    await store(2, { title: "before it was deleted" });
    expect(await found({ q: "before" })).toEqual([2, 1]);
    await app.services.storage.atomically(
      write(deleteSettledEvents, { positions: [positionIn(eventRow(2).id)] }),
    );
    expect(await found({ q: "before" })).toEqual([1]);
    expect(await found({ delivery: "none" })).toEqual([1]);
    const id = `evt_${String((await json(await app.deliverSample("task_tracker", "task.completed")))["id"]).slice(4)}`;
    const { title } = await json(await app.as("operator", `/v1/events/${id}`));
    const word = `"${String(title)}"`;
    await app.as("operator", `/v1/events/${id}/replay`, { method: "POST" });
    expect(await listed(app, `/v1/events?q=${encodeURIComponent(word)}`)).toHaveLength(1);
    expect(await listed(app, `/v1/events?delivery=delivered`)).toHaveLength(1);
  });
});

describe("GET /v1/events?delivery=", () => {
  test("returns each event under the worst status of its notifications", async () => {
    for (const n of [1, 2, 3, 4, 5, 6]) await store(n);
    await notify(1, 1, "delivered");
    await notify(2, 2, "pending");
    await notify(3, 2, "delivered");
    await notify(4, 3, "retrying");
    await notify(5, 3, "pending");
    await notify(6, 4, "dead");
    await notify(7, 4, "retrying");
    await notify(8, 5, "dead");
    expect(await found({ delivery: "delivered" })).toEqual([1]);
    expect(await found({ delivery: "pending" })).toEqual([2]);
    expect(await found({ delivery: "retrying" })).toEqual([3]);
    expect(await found({ delivery: "dead" })).toEqual([5, 4]);
    expect(await found({ delivery: "none" })).toEqual([6]);
    expect(await found({ delivery: "dead", provider: "code_host" })).toEqual([]);
    expect(await found({ delivery: "dead", q: "event 4" })).toEqual([4]);
    const items = await listed(app, "/v1/events?include=delivery");
    expect(items.map((item) => item["delivery"])).toEqual([
      "none",
      "dead",
      "dead",
      "retrying",
      "pending",
      "delivered",
    ]);
    expect((await listed(app, "/v1/events"))[0]).not.toHaveProperty("delivery");
  });

  test("knows the notifications of an event that is indexed while it is stored", async () => {
    for (let round = 0; round < 50; round += 1) {
      app.clock.advance(1_000);
      const stored = app.deliverSample("task_tracker", "task.completed");
      await Promise.all([stored, found({ q: "task" }), found({ q: "task" })]);
    }
    expect(await found({ delivery: "none" })).toEqual([]);
  });

  test("follows each delivery", async () => {
    let answer = 503;
    const gateway = testGateway(() => new Response(null, { status: answer }));
    await app.restart({ ...gateway.env, DESTINATIONS_ALLOW_PRIVATE: "true" });
    const { id } = await json(await app.deliverSample("task_tracker", "task.completed"));
    const has = async (delivery: string) => {
      for (let tries = 0; tries < 500; tries += 1) {
        const items = await listed(app, `/v1/events?delivery=${delivery}`);
        if (items.some((item) => item["id"] === id)) return true;
        await Bun.sleep(5);
      }
      return false;
    };
    expect(await has("retrying")).toBe(true);
    answer = 200;
    app.clock.advance(10_000);
    expect(await has("delivered")).toBe(true);
    expect(await listed(app, "/v1/events?delivery=retrying")).toEqual([]);
    await gateway.stop();
  });
});

describe("GET /v1/events?severity=", () => {
  test("finds events with a notification of this severity or a higher one", async () => {
    for (const n of [1, 2, 3, 4, 5]) await store(n);
    for (const [n, severity] of severities.entries()) await notify(n, n + 1, "delivered", severity);
    await notify(10, 3, "dead", "info");
    const all = { info: [4, 3, 2, 1], success: [4, 3, 2], warning: [4, 3], error: [4] } as const;
    for (const severity of severities) {
      expect([severity, await found({ severity })]).toEqual([severity, [...all[severity]]]);
    }
    expect(await found({ severity: "success", delivery: "delivered" })).toEqual([4, 2]);
    expect(await found({ severity: "warning", delivery: "dead" })).toEqual([3]);
    expect(await found({ severity: "error", delivery: "dead" })).toEqual([]);
    expect(await found({ severity: "info", delivery: "none" })).toEqual([]);
    expect(await found({ severity: "warning", q: "event 3" })).toEqual([3]);
    const key = { idempotencyKey: "task_tracker:3" };
    expect(await found({ severity: "warning", ...key })).toEqual([3]);
    expect(await found({ severity: "error", ...key })).toEqual([]);
  });

  test("follows a replay that makes other notifications", async () => {
    const { id } = await json(await app.deliverSample("deploy_platform", "deploy.error"));
    const has = async () =>
      (await listed(app, "/v1/events?severity=error")).some((item) => item["id"] === id);
    await app.services.storage.atomically(write(forgetNotifications, {}));
    expect(await has()).toBe(false);
    await app.as("operator", `/v1/events/${String(id)}/replay`, { method: "POST" });
    expect(await has()).toBe(true);
  });
});

describe("GET /v1/events?from=&to=", () => {
  const at = (n: number) => eventRow(n).createdAt.toISOString();

  test("includes from and excludes to", async () => {
    for (const n of [1, 2, 3, 4]) await store(n);
    expect(await found({ from: at(2), to: at(4) })).toEqual([3, 2]);
    expect(await found({ from: at(3) })).toEqual([4, 3]);
    expect(await found({ to: at(2) })).toEqual([1]);
    expect(await found({ from: at(2), to: at(2) })).toEqual([]);
    expect(await found({ from: "2026-11-21T01:00:00.003+01:00" })).toEqual([4, 3]);
    expect(await found({ from: at(2), to: at(4), q: "event" })).toEqual([3, 2]);
  });

  test.each([
    ..."from=yesterday from=2026-11-21 from=2026-11-21T09:00 from=2026-02-30T09:00:00Z".split(" "),
    ..."to=1700000000 to= q= subject= idempotencyKey= severity=fatal severity=".split(" "),
    "from=2026-11-21T09:00:00Z&from=2026-11-21T09:00:00Z",
    "from=2026-11-21T09:00:01Z&to=2026-11-21T09:00:00Z",
    `q=${"x".repeat(1_001)}`,
  ])("?%s is 400 and names the parameter", async (query) => {
    const { code, errors } = await jsonWith(await app.as("operator", `/v1/events?${query}`), 400);
    expect(code).toBe("invalid-parameter");
    expect(query).toContain(String(itemsOf(errors)[0]?.["parameter"]));
  });
});

describe("GET /v1/events with an exact filter", () => {
  test("finds by subject and by idempotency key", async () => {
    const long = `thing/${"é".repeat(150)}`;
    await store(1, { subject: "task/1" });
    await store(2, { subject: "task/1/2" });
    await store(3, { subject: `${long}a` });
    await store(4, { subject: `${long}b` });
    expect(await found({ subject: "task/1" })).toEqual([1]);
    expect(await found({ subject: "TASK/1" })).toEqual([]);
    expect(await found({ subject: `${long}b` })).toEqual([4]);
    expect(await found({ idempotencyKey: "task_tracker:2" })).toEqual([2]);
    expect(await found({ idempotencyKey: "task_tracker:2", delivery: "dead" })).toEqual([]);
  });

  test("finds all types with a prefix", async () => {
    const types = ["deploy", "deploy.error", "deploy.ready", "deploys.x", "redeploy.x"];
    for (const [n, type] of types.entries()) await store(n, { type });
    expect(await found({ type: "deploy.*" })).toEqual([2, 1]);
    expect(await found({ type: "deploy*" })).toEqual([3, 2, 1, 0]);
    expect(await found({ type: "*" })).toEqual([4, 3, 2, 1, 0]);
    expect(await found({ type: "x*" })).toEqual([]);
    expect(await found({ type: "deploy.*", q: "event 2" })).toEqual([2]);
    for (let n = 10; n < 61; n += 1) await store(n, { type: `many.${n}` });
    expect(await json(await app.as("operator", "/v1/events?type=many.*"))).toMatchObject({
      status: 400,
      detail: "type: More than 50 types match. Write more of the type",
    });
    expect(await found({ type: "many.1*", limit: "3" })).toEqual([19, 18, 17]);
  });
});

describe("the search index", () => {
  const waiting = async () => (await notIndexed(app.services.storage)).length;

  test("is behind after a crash and catches up", async () => {
    for (let n = 0; n < 250; n += 1) await store(n);
    expect(await waiting()).toBe(250);
    expect(await found({ q: "event", limit: "1" })).toEqual([249]);
    // A search gives up after a while, which a slow machine can exceed; the next one continues.
    await until(async () => (await found({ q: "event 0" })).length > 0);
    expect(await found({ q: "event 0" })).toEqual([0]);
    expect(await waiting()).toBe(0);
  });

  test("is built in the background", async () => {
    await store(1);
    for (let tries = 0; tries < 100; tries += 1) {
      app.clock.advance(250);
      await Bun.sleep(1);
    }
    expect(await waiting()).toBe(0);
  });
});

/** What the properties store and ask for. Few values, so that they meet. */
const words = ["red", "green", "blue"];
const types = ["a.x", "a.y", "b.x"];
const states = ["none", "pending", "retrying", "delivered", "dead"] as const;
const anEvent = fc.record({
  time: fc.integer({ min: 0, max: 3 }),
  type: fc.constantFrom(...types),
  words: fc.array(fc.constantFrom(...words), { maxLength: 3 }),
  subject: fc.option(fc.constantFrom("s/1", "s/2")),
  state: fc.constantFrom(...states),
  severity: fc.constantFrom(...severities),
});
const maybe = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: value });
const aQuery = fc.record({
  q: maybe(fc.array(fc.constantFrom(...words, "r*", "gre*"), { minLength: 1, maxLength: 2 })),
  type: maybe(fc.constantFrom("a.x", "b.x", "a.*", "*")),
  subject: maybe(fc.constantFrom("s/1", "s/3")),
  delivery: maybe(fc.constantFrom(...states)),
  severity: maybe(fc.constantFrom(...severities)),
  from: maybe(fc.integer({ min: 0, max: 4 })),
  to: maybe(fc.integer({ min: 0, max: 4 })),
  limit: fc.integer({ min: 1, max: 4 }),
  backward: fc.boolean(),
});

test("pages of any filters form the list that a plain filter of all events gives", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anEvent, { minLength: 15, maxLength: 25, size: "max" }),
      fc.array(aQuery, { minLength: 12, maxLength: 12, size: "max" }),
      async (events, queries) => {
        await app.restart();
        // In the order of commits, which is that of receipt.
        const rows = events
          .toSorted((one, other) => one.time - other.time)
          .map((event, n) => ({ ...event, n }));
        for (const { n, time, type, words: said, subject, state, severity } of rows) {
          const title = ["event", ...said].join(" ");
          const fields = { createdAt: new Date(time), type, subject, title, data: {} };
          const { place } = await store(n, fields);
          if (state === "none") continue;
          // Its first notification, a later one, or both.
          if (n % 3 !== 1) await notify(n, place, state, severity, { position: place });
          if (n % 3 !== 0) await notify(n, place, state, severity);
        }
        for (const query of queries) {
          const { q, type, subject, delivery, severity, from, to } = query;
          if (from !== undefined && to !== undefined && from > to) continue;
          const expected = rows
            .filter(
              (row) =>
                (q ?? []).every((word) =>
                  word.endsWith("*")
                    ? row.words.some((each) => each.startsWith(word.slice(0, -1)))
                    : row.words.includes(word),
                ) &&
                (type === undefined ||
                  (type.endsWith("*")
                    ? row.type.startsWith(type.slice(0, -1))
                    : row.type === type)) &&
                (subject === undefined || row.subject === subject) &&
                (delivery === undefined || row.state === delivery) &&
                (severity === undefined ||
                  (row.state !== "none" &&
                    severities.indexOf(row.severity) >= severities.indexOf(severity))) &&
                (from === undefined || row.time >= from) &&
                (to === undefined || row.time < to),
            )
            .map(({ n }) => n)
            .toReversed();
          expect(await walked(query)).toEqual(expected);
        }
      },
    ),
    { numRuns: runs(60) },
  );
});

interface Query {
  readonly q?: readonly string[] | undefined;
  readonly type?: string | undefined;
  readonly subject?: string | undefined;
  readonly delivery?: string | undefined;
  readonly severity?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly limit: number;
  readonly backward: boolean;
}

/** All pages of a query, by their Link headers, and the total. */
async function walked({ q, from, to, limit, backward, ...filters }: Query): Promise<number[]> {
  const given = {
    ...filters,
    q: q?.join(" "),
    from: from === undefined ? undefined : new Date(from).toISOString(),
    to: to === undefined ? undefined : new Date(to).toISOString(),
    limit: String(limit),
    include: "total",
    direction: backward ? "backward" : undefined,
  };
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const seen: number[][] = [];
  let total = 0;
  let path: string | undefined = `/v1/events?${query.toString()}`;
  while (path !== undefined) {
    if (seen.length > 100) throw new Error("The pages do not end");
    const response = await app.as("operator", path);
    const page = await json(response);
    seen.push(itemsOf(page["data"]).map(({ id }) => numberOf(String(id))));
    total = Number(Object(page["pagination"]).total);
    const rel = backward ? "prev" : "next";
    const link = response.headers.get("link") ?? "";
    path = new RegExp(`<([^>]+)>; rel="${rel}"`).exec(link)?.[1];
  }
  const all = backward ? seen.toReversed().flat() : seen.flat();
  expect(total).toBe(all.length);
  return all;
}
