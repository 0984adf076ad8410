import { beforeAll, describe, expect, test } from "bun:test";

import { firstPositionAt, idAt, positionIn } from "../../src/base/ids.ts";
import type { Source } from "../../src/db/paginate.ts";
import { type Statement, write } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import type { Event } from "../../src/event/event.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { eventsMatching, needsIndex } from "../../src/events/event-search.ts";
import { insertDeliveries } from "../../src/outbound/model/deliveries.sql.ts";
import { insertDestination } from "../../src/outbound/model/destinations.sql.ts";
import { notificationStatuses } from "../../src/outbound/model/notification-words.ts";
import type { Notification } from "../../src/outbound/model/notification.ts";
import {
  openNotificationPages,
  sentNotificationPages,
} from "../../src/outbound/model/notifications.sql.ts";
import { json, jsonWith, type TestApp } from "../support/app.ts";
import { noManyConnections } from "../support/databases.ts";
import { post } from "../support/flights.ts";
import { itemsOf } from "../support/operator.ts";
import { filledPostgres, planOnSqlite } from "../support/plans.ts";
import {
  deliveryRow,
  destinationRow,
  eventRow,
  notificationRow,
  placeAt,
  sentWrites,
} from "../support/rows.ts";
import { appForAll } from "../support/running-app.ts";
import { skips } from "../support/skips.ts";

const idOf = (number: number) => destinationRow(number).id;

interface Sent {
  readonly destination: number;
  readonly status: (typeof notificationStatuses)[number];
  readonly id: Notification["id"];
}
interface Stored {
  readonly id: Event["id"];
  readonly at: number;
  readonly provider: string;
  readonly sent: readonly Sent[];
}

const providers = ["code_host", "task_tracker"];
const start = Date.UTC(2026, 10, 21);
const count = 60;

/** Whether the notifications of the event with this number are errors. */
const hasError = (n: number) => n % 3 === 0;

/** Events of which several share a millisecond, with none to four deliveries, some of them to the same destination. */
async function storeSome({ services: { storage } }: TestApp): Promise<readonly Stored[]> {
  for (const row of [
    destinationRow(1, { name: "slack" }),
    destinationRow(2, { name: "mail" }),
    destinationRow(3, { name: "own", ownerId: "user-1" }),
    destinationRow(4, { name: idOf(1) }),
  ]) {
    await storage.atomically(write(insertDestination, row));
  }
  const stored: Stored[] = [];
  for (let n = 0; n < count; n += 1) {
    const at = start + Math.floor(n / 3) * 1_000;
    const provider = providers[n % 5 === 0 ? 0 : 1] ?? "";
    const fields = { provider, createdAt: new Date(at), idempotencyKey: `key:${n}` };
    const event = eventRow(n, fields);
    const sent = Array.from({ length: n % 5 }, (_, each) => ({
      destination: 1 + ((n + Math.floor(each / 2)) % 2),
      status: notificationStatuses[(n + each * 3) % 4] ?? "pending",
      place: each === 0 ? event.place : placeAt(new Date(at)),
    }));
    await storage.atomically(
      write(insertEvent, event),
      ...sent.flatMap(({ destination, status, place }) => {
        const row = notificationRow(n, {
          position: place,
          event: event.place,
          severity: hasError(n) ? "error" : "info",
        });
        return sentWrites(row, { destination, status, dueAt: null });
      }),
    );
    const ids = sent.map((one) => ({
      ...one,
      id: idAt("ntf", one.place.position, event.place.tail),
    }));
    stored.push({ id: event.id, at, provider, sent: ids });
  }
  return stored;
}

describe("destination=", () => {
  let stored: readonly Stored[];
  const app = appForAll();
  beforeAll(async () => {
    stored = await storeSome(app);
  });

  /** The ids on all pages of a list, from the newest or from the oldest. */
  async function allOf(path: string, query: Record<string, string>, direction: string) {
    const parameters = new URLSearchParams({ ...query, limit: "7", include: "total", direction });
    const ids: string[] = [];
    for (;;) {
      const page = await json(await app.as("operator", `${path}?${parameters.toString()}`));
      const items = itemsOf(page["data"]).map(({ id }) => String(id));
      ids.splice(direction === "forward" ? ids.length : 0, 0, ...items);
      const { hasMore, total, nextCursor, prevCursor } = Object(page["pagination"]);
      if (hasMore !== true) return { ids, total };
      parameters.set("cursor", direction === "forward" ? nextCursor : prevCursor);
    }
  }

  const from = start + 4_000;
  const to = start + 17_000;
  const deliveries = [undefined, ...notificationStatuses];
  const others = [
    {},
    { provider: "code_host" },
    { q: "event" },
    { type: "task.*" },
    { idempotencyKey: "key:31" },
    { idempotencyKey: "key:31", q: "event" },
    { idempotencyKey: "key:31", q: "absent" },
    { severity: "info" },
    { severity: "error" },
    { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
  ] as const;
  test.each(others)("finds the events that were sent there, with %j", async (other) => {
    for (const delivery of deliveries) {
      const expected = stored
        .filter(({ at, provider, sent }, n) => {
          if ("provider" in other && provider !== other.provider) return false;
          if ("idempotencyKey" in other && n !== 31) return false;
          if ("q" in other && other.q === "absent") return false;
          if ("severity" in other && other.severity === "error" && !hasError(n)) return false;
          if ("from" in other && (at < from || at >= to)) return false;
          const there = sent.filter(({ destination }) => destination === 1);
          return there.some(({ status }) => (delivery ?? status) === status);
        })
        .map(({ id }) => id)
        .toReversed();
      const query = { destination: "slack", ...(delivery && { delivery }), ...other };
      for (const direction of ["forward", "backward"]) {
        expect({ query, direction, ...(await allOf("/v1/events", query, direction)) }).toEqual({
          query,
          direction,
          ids: expected,
          total: expected.length,
        });
      }
    }
  });

  test("finds words among the events of many deliveries", async () => {
    const { storage } = app.services;
    const [first] = stored;
    const event = first === undefined ? 0 : positionIn(first.id);
    await storage.atomically(write(insertDestination, destinationRow(5, { name: "busy" })));
    const deliveries = Array.from({ length: 10_001 }, (_, n) =>
      deliveryRow(notificationRow(20_000 + n, n === 0 ? { event } : {}), {
        destination: 5,
      }),
    );
    await storage.atomically(write(insertDeliveries, { deliveries }));
    const query = { destination: "busy", q: "event" };
    expect(await allOf("/v1/events", query, "forward")).toEqual({
      ids: first === undefined ? [] : [first.id],
      total: 1,
    });
  });

  test("finds the notifications that were sent there, with their status there", async () => {
    const sent = stored.flatMap((event) => event.sent);
    for (const status of deliveries) {
      const expected = sent
        .filter((each) => each.destination === 2 && (status ?? each.status) === each.status)
        .map(({ id }) => id)
        .toReversed();
      const query = { destination: idOf(2), ...(status && { status }) };
      for (const direction of ["forward", "backward"]) {
        expect({ query, ...(await allOf("/v1/notifications", query, direction)) }).toEqual({
          query,
          ids: expected,
          total: expected.length,
        });
      }
    }
  });

  test.each([
    ["from", 36],
    ["to", 0],
  ])("takes a %s before 1970", async (name, total) => {
    const query = { destination: "slack", [name]: "0000-01-01T00:00:00.000Z" };
    expect(await allOf("/v1/events", query, "forward")).toMatchObject({ total });
  });

  test("takes an id, also if another destination has it as its name", async () => {
    const byName = await allOf("/v1/events", { destination: "slack" }, "forward");
    expect(await allOf("/v1/events", { destination: idOf(1) }, "forward")).toEqual(byName);
  });

  test.each([
    ["destination=slak", "destination"],
    [`destination=${idOf(3)}`, "destination"],
    ["destination=own", "destination"],
    ["destination=dst_x", "destination"],
    ["destination=slack&delivery=none", "delivery"],
  ])("refuses ?%s", async (query, parameter) => {
    expect(await jsonWith(await app.as("operator", `/v1/events?${query}`), 400)).toMatchObject({
      code: "invalid-parameter",
      errors: [{ parameter }],
    });
  });

  test("limits a replay, which stores the id", async () => {
    const body = { destination: "slack", delivery: "dead" };
    const preview = async (given: object) =>
      json(await app.as("operator", "/v1/replays/preview", post(given)));
    const dead = stored.filter(({ sent }) =>
      sent.some(({ destination, status }) => destination === 1 && status === "dead"),
    );
    expect(await preview(body)).toMatchObject({
      total: dead.length,
      filters: { destination: idOf(1), delivery: "dead" },
    });
    expect(await preview({ ...body, destination: "slak" })).toMatchObject({
      code: "invalid-parameter",
    });
  });
});

test.each([
  [{}, false],
  [{ delivery: "dead" }, false],
  [{ delivery: "dead", provider: "code_host" }, false],
  [{ delivery: "delivered", provider: "code_host" }, true],
  [{ provider: "code_host" }, true],
  [{ subject: "pull_request/1" }, true],
  [{ q: "failed" }, true],
] as const)(
  "a list of a destination with %j waits for the search index: %p",
  (filters, expected) => {
    expect(needsIndex({ ...filters, destination: idOf(1) })).toBe(expected);
  },
);

/** The statements that count a list, slice by slice, or that read its first page or one after a position. */
async function statementsOf(
  sourceOn: (storage: Storage) => Source<unknown> | Promise<Source<unknown>>,
  isNext: boolean | "count",
) {
  const read: [Statement<Record<string, unknown>, unknown>, Record<string, unknown>][] = [];
  const storage = {
    dialect: isNext === "count" ? "sqlite" : "postgres",
    all(statement: Statement<Record<string, unknown>, unknown>, values: Record<string, unknown>) {
      read.push([statement, values]);
      return Promise.resolve([]);
    },
  };
  // Guarantee: a source only reads.
  const source = await sourceOn(storage as unknown as Storage);
  if (isNext === "count") await source.count();
  const at = new Date(start + 2_000_000);
  const position = isNext
    ? { createdAt: at, id: idAt("evt", firstPositionAt(at.getTime()), 0) }
    : null;
  if (isNext !== "count")
    await source.read({ order: "newest-first", from: position, offset: 0, limit: 20 });
  return read;
}

async function pagesOnSqlite(...of: Parameters<typeof statementsOf>) {
  const read = await statementsOf(...of);
  return read.map(([each]) => planOnSqlite(each).map((line) => line.replace("COVERING ", "")));
}

/** The indexes of the deliveries whose notification has the position of the event, and of the others. */
const ofDestination = ["deliveries_of_destination", "deliveries_again"] as const;
const open = ["deliveries_open", "deliveries_open_again"] as const;
const between = { from: new Date(start), to: new Date(start + 3_000_000) };
const searches = [
  [ofDestination, { destination: idOf(1) }],
  [open, { destination: idOf(1), delivery: "dead" }],
  [open, { destination: idOf(1), delivery: "retrying", provider: "code_host" }],
  [open, { destination: idOf(1), delivery: "dead", ...between }],
  [ofDestination, { destination: idOf(1), delivery: "delivered" }],
] as const;

const toOperators = [["deliveries_state", "deliveries_state_again"], { delivery: "dead" }] as const;

test.each([...searches, toOperators])(
  "a page on SQLite reads %j in order, with %j",
  async (indexes, filters) => {
    for (const isNext of [false, true]) {
      const plans = await pagesOnSqlite((storage) => eventsMatching(storage, filters), isNext);
      expect(plans).toHaveLength(2);
      for (const [half, [first, ...others] = []] of plans.entries()) {
        expect(first).toStartWith(`SEARCH deliveries USING INDEX ${indexes[half]} (`);
        if (isNext || "to" in filters) expect(first).toMatch(/(?:notification|event)<\?/);
        expect(others.filter((line) => /^SCAN|TEMP B-TREE/.test(line))).toEqual([]);
        // Those of the event only, not of the destination.
        expect(others.filter((line) => line.includes("earlier")).join()).toMatch(
          /^SEARCH earlier USING PRIMARY KEY \(event=\? AND notification<\?\)$/,
        );
      }
    }
  },
);

test("a count of what is not delivered finds its slices by index on SQLite", async () => {
  const lists = [
    (storage: Storage) => eventsMatching(storage, { delivery: "dead" }),
    (storage: Storage) => openNotificationPages(storage, { open: "dead", status: "dead" }),
  ];
  for (const list of lists) {
    for (const plan of await pagesOnSqlite(list, "count")) {
      expect(plan[0]).toMatch(/^SEARCH deliveries USING INDEX deliveries_state(_again)? \(status=/);
      expect(plan.join()).not.toContain("TEMP B-TREE FOR ORDER BY");
    }
  }
});

test.each([
  ["deliveries_of_destination (destination=?", {}],
  ["deliveries_open (destination=? AND status=?", { status: "dead" }],
  ["deliveries_open (destination=? AND status=?", { status: "retrying" }],
] as const)("a page of notifications on SQLite reads %s in order", async (index, status) => {
  const filters = { destination: idOf(1), ...status };
  const plans = await pagesOnSqlite((storage) => sentNotificationPages(storage, filters), true);
  // Only those of the page are joined to others.
  expect(
    plans.map((plan) => plan.filter((line) => /^(?:SEARCH|SCAN|USE) (?!sent)/.test(line))),
  ).toEqual([
    [
      `SEARCH deliveries USING INDEX ${index} AND notification=?)`,
      "SEARCH destinations USING INDEX sqlite_autoindex_destinations_1 (id=?)",
      `SEARCH deliveries USING INDEX ${index} AND notification<?)`,
      "SEARCH destinations USING INDEX sqlite_autoindex_destinations_1 (id=?)",
      "SEARCH notifications USING INTEGER PRIMARY KEY (rowid=?)",
      "SEARCH events USING INTEGER PRIMARY KEY (rowid=?)",
    ],
  ]);
});

test.skipIf(skips(noManyConnections))(
  "a page on PostgreSQL reads the same indexes in order",
  async () => {
    const position = `(${start}::bigint + i * 1000) * 1024`;
    await using database = await filledPostgres(
      `select make_week(week_of(${start}::bigint * 1024))`,
      `insert into events (position, tail, provider, type, status, idempotency_key, occurred_at, title, data, body_bytes, duplicates)
      select ${position}, i, case when i % 9 = 0 then 'code_host' else 'task_tracker' end, 'task.completed', 'accepted', 'k' || i, 0, 't', '{}', 0, 0 from generate_series(1, 20000) as i`,
      `insert into destinations (id, name, format, transport, url, max_concurrent, alerts, state, created_at, updated_at, failures, sealed)
      values ('${idOf(1)}', 'one', 'json', 'http', '', 8, false, 'active', 0, 0, 0, '')`,
      `insert into deliveries (destination, notification, event, status, attempt_count)
      select case when i % 50 = 0 then 1 else 2 end, case when i % 100 = 0 then ${position} + 1 else ${position} end, ${position},
        case when i % 7 = 0 then 'dead' when i % 11 = 0 then 'retrying' else 'delivered' end, 0 from generate_series(1, 20000) as i`,
      "analyze",
    );
    for (const [indexes, filters] of searches) {
      const halves = await statementsOf((storage) => eventsMatching(storage, filters), true);
      for (const [half, [statement, values]] of halves.entries()) {
        const plan = await database.planOf(statement, values, "costs off");
        expect(plan).toContain(indexes[half] ?? "none");
        expect(plan).not.toContain("Sort");
      }
    }
  },
);
