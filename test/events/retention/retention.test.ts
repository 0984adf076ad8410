import { describe, expect, test } from "bun:test";

import { SQL } from "bun";

import { positionIn } from "../../../src/base/ids.ts";
import { statementsOver, write } from "../../../src/db/statement.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { deleteSettledEvents } from "../../../src/events/retention/retention.sql.ts";
import type { AuditEntry } from "../../../src/identity/audit/audit-entry.ts";
import { insertAudit } from "../../../src/identity/audit/audit.sql.ts";
import { idempotencyByKey } from "../../../src/identity/idempotency/idempotency.sql.ts";
import { deleteOrphan } from "../../../src/outbound/model/deliveries.sql.ts";
import { insertDestination } from "../../../src/outbound/model/destinations.sql.ts";
import { notificationsTable } from "../../../src/outbound/model/notification.ts";
import { notificationsOfEvents } from "../../../src/outbound/model/notifications.sql.ts";
import { json, until } from "../../support/app.ts";
import { noManyConnections, postgresDatabase } from "../../support/databases.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { listed } from "../../support/operator.ts";
import {
  attemptWrite,
  destinationRow,
  eventRow,
  notificationRow,
  sentWrites,
} from "../../support/rows.ts";
import { appPerTest } from "../../support/running-app.ts";
import { indexed } from "../../support/search.ts";
import { skips } from "../../support/skips.ts";

const app = appPerTest();

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** Stores an event of some days ago, with a notification of this status. */
async function store(number: number, daysAgo: number, status: "delivered" | "dead" | "pending") {
  const createdAt = new Date(app.clock.now() - daysAgo * dayMs);
  const event = eventRow(number, { createdAt });
  const { place } = event;
  const notification = notificationRow(number, { position: place, event: place });
  await app.services.storage.atomically(
    write(insertDestination, destinationRow(1)),
    write(insertEvent, event),
    ...sentWrites(notification, { status, dueAt: null }),
    attemptWrite({
      notification: positionIn(event.id),
      destination: 1,
      startedAt: createdAt,
      durationMs: 1,
      delivered: false,
      responseStatus: 500,
      error: null,
    }),
  );
  return event.id;
}

/** Also those of events that do not exist, which no list has. */
const allNotifications = statementsOver({ notifications: notificationsTable })()((db, t) =>
  db.select({ event: t.notifications.event }).from(t.notifications),
);

const ids = async () => (await listed(app, "/v1/events?limit=100")).map(({ id }) => id);

/** Waits in rounds of retention. PostgreSQL deletes whole weeks, so that events may stay for seven days more. */
const untilDeleted = (condition: () => Promise<boolean>) =>
  until(async () => {
    app.clock.advance(minuteMs);
    return condition();
  });

describe("retention", () => {
  test("deletes bodies, then events with their notifications, but keeps events with undelivered ones", async () => {
    const [dead, pending, delivered, older, fresh] = [
      await store(1, 98, "dead"),
      await store(2, 98, "pending"),
      await store(3, 98, "delivered"),
      await store(4, 31, "delivered"),
      await store(5, 1, "delivered"),
    ];
    // Has their words indexed, which can be names.
    expect(await listed(app, "/v1/events?q=event")).toHaveLength(5);
    await untilDeleted(async () => (await ids()).length === 4);
    expect(await ids()).toEqual([fresh, older, pending, dead]);
    const words = await indexed(app.services.storage);
    expect(new Set(words)).toEqual(new Set([fresh, older, pending, dead].map(positionIn)));
    const body = async (id: string) =>
      (await json(await app.as("operator", `/v1/events/${id}`)))["body"];
    expect(await body(fresh)).toBe("{}");
    expect(await body(older)).toBeNull();
    expect((await app.as("operator", `/v1/events/${delivered}`)).status).toBe(404);
    expect(await listed(app, "/v1/notifications")).toHaveLength(4);
    expect(await app.services.storage.all(allNotifications, {})).toHaveLength(4);
  });

  test("deletes none that became undelivered after it was found", async () => {
    const stored = [
      await store(1, 1, "delivered"),
      await store(2, 1, "dead"),
      await store(3, 1, "pending"),
    ];
    await app.services.storage.atomically(
      write(deleteSettledEvents, { positions: stored.map(positionIn) }),
    );
    expect(await ids()).toEqual(stored.slice(1).toReversed());
  });

  test("deletes an event once its last notification is delivered", async () => {
    const id = await store(1, 98, "dead");
    await store(2, 98, "delivered");
    await untilDeleted(async () => (await ids()).length === 1);
    expect(await ids()).toEqual([id]);
    const statuses = (
      await app.services.storage.all(notificationsOfEvents, { events: [positionIn(id)] })
    ).map(({ status }) => status);
    expect(statuses).toEqual(["dead"]);
    // Without a delivery, the notification counts as delivered.
    const key = { event: positionIn(id), notification: positionIn(id), destination: 1 };
    await app.services.storage.atomically(write(deleteOrphan, key));
    await untilDeleted(async () => (await ids()).length === 0);
  });

  test("deletes the bodies of old rejections but keeps the rejections", async () => {
    const reject = async (body: string) => {
      const headers = { "x-codehost-signature-256": `sha256=${"0".repeat(64)}` };
      await app.fetch("/webhooks/code_host", { method: "POST", body, headers });
      const [newest] = await listed(app, "/v1/rejections");
      return `/v1/rejections/${String(newest?.["id"])}`;
    };
    const read = async (path: string) => json(await app.as("operator", path));
    const old = await reject("old");
    // Hourly advances do not count as jumps.
    for (let day = 0; day < 31 * 24; day += 1) app.clock.advance(dayMs / 24);
    const fresh = await reject("fresh");
    await until(async () => {
      app.clock.advance(minuteMs);
      return (await read(old))["body"] === null;
    });
    expect(await read(fresh)).toMatchObject({ body: "fresh" });
    expect(await read(old)).toMatchObject({
      bodyBytes: 3,
      reason: "wrong-signature",
      explanation: {
        cause: "body-not-kept",
        detail: expect.stringContaining("its retention period is over"),
      },
    });
  });

  test("deletes many events in batches and runs again after a minute", async () => {
    await app.restart({ EVENT_RETENTION_DAYS: "7", BODY_RETENTION_DAYS: "1" });
    for (let number = 0; number < 250; number += 1) await store(number, 15, "delivered");
    await untilDeleted(async () => (await ids()).length === 0);
    await store(999, 15, "delivered");
    await untilDeleted(async () => (await ids()).length === 0);
  });

  /** Stores an entry of some days ago, by an actor that none of the other requests has. */
  async function audited(number: number, daysAgo: number, action: string) {
    const entry: AuditEntry = {
      id: `aud_${String(number).padStart(32, "0")}`,
      createdAt: new Date(app.clock.now() - daysAgo * dayMs),
      actor: "ada",
      action,
      subject: "any",
      detail: null,
    };
    await app.services.storage.atomically(write(insertAudit, { ...entry, tombstones: [] }));
  }
  const auditList = async () =>
    (await listed(app, "/v1/audit?actor=ada&limit=100", "admin")).map(({ action }) => action);

  test("deletes audit entries after 400 days, whatever was done", async () => {
    await audited(1, 401, "session.opened");
    await audited(2, 401, "event.revealed");
    await audited(3, 401, "flight.renamed by a newer version");
    await audited(4, 399, "session.closed");
    await audited(5, 399, "event.revealed");
    app.clock.advance(minuteMs);
    await until(async () => (await auditList()).length === 2);
    expect(await auditList()).toEqual(["event.revealed", "session.closed"]);
  });

  test("deletes many audit entries in batches, after AUDIT_RETENTION_DAYS", async () => {
    await app.restart({ AUDIT_RETENTION_DAYS: "1" });
    for (let number = 0; number < 250; number += 1) await audited(number, 2, "session.opened");
    await audited(999, 0, "session.closed");
    app.clock.advance(minuteMs);
    await until(async () => (await auditList()).length === 1);
    expect(await auditList()).toEqual(["session.closed"]);
  });

  test("keeps idempotency keys for a day", async () => {
    const { id } = await addFlight(app);
    const book = (key: string) =>
      app.as("user", "/v1/api/bookings", post(bookingBody(id), { "idempotency-key": key }));
    await book("old");
    const advanceHalfADay = () => {
      // Hourly advances do not count as jumps.
      for (let hour = 0; hour < 12; hour += 1) app.clock.advance(dayMs / 24);
    };
    advanceHalfADay();
    await book("young");
    advanceHalfADay();
    const isStored = async (key: string) => {
      const record = { scope: "booking:test-user", key };
      return (await app.services.storage.all(idempotencyByKey, record)).length > 0;
    };
    await until(async () => {
      app.clock.advance(minuteMs);
      return !(await isStored("old"));
    });
    expect(await isStored("young")).toBe(true);
    expect((await book("young")).headers.get("idempotent-replayed")).toBe("true");
  });
});

test.skipIf(skips(noManyConnections))(
  "an event that is replayed during its deletion stays, with its new notification",
  async () => {
    await using database = await postgresDatabase();
    await app.restart({ DATABASE_URL: database.url });
    const id = await store(1, 98, "delivered");
    await database.run("update events set body = null");
    // A replay between its last statement and its commit.
    await using other = new SQL(database.url, { max: 1 });
    await other.unsafe("begin");
    await other.unsafe("update events set title = title");
    await other.unsafe(
      `insert into notifications (position, event, title, text, severity) select position + 1, event, title, text, severity from notifications;
       insert into deliveries (event, notification, destination, status, attempt_count) select position, position + 1, 1, 'pending', 0 from events`,
    );
    app.clock.advance(minuteMs);
    // Its former notification is deleted, but not the event, which the transaction uses.
    await until(async () => {
      app.clock.advance(minuteMs);
      return (await database.run("select from notifications")).length === 0;
    });
    await other.unsafe("commit");
    app.clock.advance(minuteMs);
    await app.stop();
    expect(await database.run("select position from events")).toEqual([
      { position: String(positionIn(id)) },
    ]);
    expect(await database.run("select from notifications")).toHaveLength(1);
  },
  30_000,
);
