import { beforeAll, expect, test } from "bun:test";

import { write } from "../../../src/db/statement.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { severities } from "../../../src/event/new-notification.ts";
import { insertDeliveries } from "../../../src/outbound/model/deliveries.sql.ts";
import { insertDestination } from "../../../src/outbound/model/destinations.sql.ts";
import { notificationStatuses } from "../../../src/outbound/model/notification-words.ts";
import {
  insertNotification,
  notificationPages,
} from "../../../src/outbound/model/notifications.sql.ts";
import { json, jsonWith } from "../../support/app.ts";
import { noManyConnections } from "../../support/databases.ts";
import { itemsOf } from "../../support/operator.ts";
import { filledPostgres, planOnSqlite, readingFor } from "../../support/plans.ts";
import { deliveryRow, destinationRow, eventRow, notificationRow } from "../../support/rows.ts";
import { appForAll } from "../../support/running-app.ts";
import { skips } from "../../support/skips.ts";

const app = appForAll();
const { name } = destinationRow(1);
const rows = Array.from({ length: 32 }, (_, n) => {
  const row = notificationRow(n, { severity: severities[n % 4] ?? "info" });
  const status = notificationStatuses[(n >> 2) % 4] ?? "dead";
  return { ...row, status, id: row.position.id.replace("evt", "ntf") };
});
beforeAll(async () => {
  const { storage } = app.services;
  const stored = rows.flatMap((row, n) => [
    write(insertEvent, eventRow(n)),
    write(insertNotification, row),
  ]);
  await storage.atomically(...stored);
  const deliveries = rows.map((row) => deliveryRow(row, { status: row.status }));
  await storage.atomically(
    write(insertDestination, destinationRow(1)),
    write(insertDeliveries, { deliveries }),
  );
});

/** The ids on all pages of a list, and its total. */
async function walked(query: URLSearchParams) {
  const ids: unknown[] = [];
  let total: unknown;
  for (
    let path: string | undefined = `/v1/notifications?${query.toString()}`;
    path !== undefined;
  ) {
    const response = await app.as("operator", path);
    const page = await json(response);
    ids.push(...itemsOf(page["data"]).map(({ id }) => id));
    total = Object(page["pagination"]).total;
    path = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  }
  return { ids, total };
}

test.each(severities)(
  "a list of %s has the notifications of this severity or a higher one",
  async (least) => {
    for (const status of [undefined, ...notificationStatuses]) {
      const ids = rows
        .filter((row) => status === undefined || row.status === status)
        .filter(({ severity }) => severities.indexOf(severity) >= severities.indexOf(least))
        .map(({ id }) => id)
        .toReversed();
      for (const destination of [undefined, name]) {
        const query = new URLSearchParams({ severity: least, limit: "3", include: "total" });
        if (status !== undefined) query.set("status", status);
        if (destination !== undefined) query.set("destination", destination);
        expect([String(query), await walked(query)]).toEqual([
          String(query),
          { ids, total: ids.length },
        ]);
      }
    }
  },
);

test("the feed has the notifications of this severity or a higher one", async () => {
  const headers = { "last-event-id": "0" };
  const response = await app.as("operator", "/v1/feed?severity=error", { headers });
  const wanted = rows.filter(({ severity }) => severity === "error").map(({ id }) => id);
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes(wanted.at(-1) ?? "none")) break;
  }
  expect(Array.from(text.match(/ntf_\w+/g) ?? [], String)).toEqual(wanted.map(String));
});

test.each(["/v1/notifications", "/v1/feed"])("%s rejects an unknown severity", async (path) => {
  const problem = await jsonWith(await app.as("operator", `${path}?severity=fatal`), 400);
  expect(problem["detail"]).toBe("severity: Must be one of: info, success, warning, error");
});

/** Passes the statement of a page of one severity, with its values. */
async function eachRead(read: Parameters<typeof readingFor>[0]) {
  const source = notificationPages(readingFor(read), { severity: "error" });
  await source.read({ order: "newest-first", from: null, offset: 0, limit: 20 });
}

test("SQLite reads a severity by its index", async () => {
  await eachRead((statement) => {
    const plan = planOnSqlite(statement).filter((line) =>
      /^(?:SEARCH|SCAN|USE) (?!sent)/.test(line),
    );
    expect(plan).toEqual([
      "SEARCH notifications USING INDEX notifications_of_severity (severity=?)",
      "SEARCH events USING INTEGER PRIMARY KEY (rowid=?)",
    ]);
  });
});

test.skipIf(skips(noManyConnections))("PostgreSQL reads a severity by its index", async () => {
  await using database = await filledPostgres(
    `insert into notifications (position, event, title, text, severity)
    select i, i, '', '', case when i < 10 then 'error' else 'info' end from generate_series(1, 9600) as i`,
    "select make_week(0)",
    "analyze notifications",
  );
  await eachRead(async (statement, values) => {
    const plan = await database.planOf(statement, values, "costs off");
    expect(plan).toContain("notifications_of_severity");
  });
});
