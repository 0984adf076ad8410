import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { eq, sql } from "drizzle-orm";

import { bookingsTable } from "../../src/booking/model/booking.ts";
import { statementsOver, write } from "../../src/db/statement.ts";
import { eventsTable } from "../../src/event/event.ts";
import { replaysTable } from "../../src/events/replay.ts";
import { auditTable } from "../../src/identity/audit/audit-entry.ts";
import { rejectionsTable } from "../../src/inbound/model/rejection.ts";
import { webhookCountsTable } from "../../src/inbound/model/webhook-count.ts";
import { deliveriesTable } from "../../src/outbound/model/delivery.ts";
import { destinationsTable, operatorGateway } from "../../src/outbound/model/destination.ts";
import { notificationsTable } from "../../src/outbound/model/notification.ts";
import { json, startApp, type TestApp, until } from "../support/app.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";
import { testGateway } from "../support/gateway.ts";
import { itemsOf, listed, timelineOf } from "../support/operator.ts";

// During a rolling upgrade, a newer instance writes words that this version does not know.

const word = "of-a-newer-version";
const newer = sql.raw(`'${word}'`);
const all = sql.raw("true");
const statement = statementsOver({
  bookings: bookingsTable,
  webhookCounts: webhookCountsTable,
  destinations: destinationsTable,
  events: eventsTable,
  notifications: notificationsTable,
  deliveries: deliveriesTable,
  rejections: rejectionsTable,
  replays: replaysTable,
  audit: auditTable,
});

const changes = {
  "the reason of a rejection": statement()((db, t) =>
    db.update(t.rejections).set({ reason: newer }).where(all),
  ),
  "the status of an event": statement()((db, t) =>
    db.update(t.events).set({ status: newer }).where(all),
  ),
  "the secret of an event": statement()((db, t) =>
    db.update(t.events).set({ signedWith: newer }).where(all),
  ),
  "the severity of a notification": statement()((db, t) =>
    db.update(t.notifications).set({ severity: newer }).where(all),
  ),
  "the status of a delivery": statement()((db, t) =>
    db.update(t.deliveries).set({ status: newer }).where(all),
  ),
  "the format of a destination": statement()((db, t) =>
    db.update(t.destinations).set({ format: newer }).where(all),
  ),
  "the state of a destination": statement()((db, t) =>
    db.update(t.destinations).set({ state: newer }).where(all),
  ),
  "the status of a replay": statement()((db, t) =>
    db.update(t.replays).set({ status: newer }).where(all),
  ),
  "the action of an audit entry": statement()((db, t) =>
    db.update(t.audit).set({ action: newer }).where(all),
  ),
  "the verdict of a delivery": statement()((db, t) =>
    db
      .update(t.webhookCounts)
      .set({ verdict: newer })
      .where(eq(t.webhookCounts.verdict, "accepted")),
  ),
  "the status of a booking": statement()((db, t) =>
    db.update(t.bookings).set({ status: newer }).where(all),
  ),
};

describe.each(Object.entries(changes))("%s that a newer version wrote", (_, change) => {
  const gateway = testGateway(() => new Response());
  let app: TestApp;
  let [event, rejection, destination, replay]: (string | undefined)[] = [];
  beforeAll(async () => {
    app = await startApp(gateway.env, undefined, { isDocumented: false });
    const flight = await addFlight(app);
    await app.as("admin", "/v1/api/bookings", post(bookingBody(flight.id)));
    await app.deliverSample("code_host", "package.published");
    await app.deliver("code_host", "{}", { secret: "another" });
    await app.as("admin", "/v1/replays", post({ from: "2020-01-01T00:00:00Z", ratePerSecond: 1 }));
    await until(async () => {
      // The counts of deliveries are written every 2 s.
      app.clock.advance(2_000);
      const counted = await json(await app.as("operator", "/v1/statistics/deliveries"));
      // Nothing writes them again once they are delivered.
      const sent = await listed(app, "/v1/notifications?status=delivered");
      return sent.length > 1 && itemsOf(counted["series"]).length > 0;
    });
    const idOf = async (path: string) => String((await listed(app, path, "admin"))[0]?.["id"]);
    [event, rejection, destination, replay] = await Promise.all(
      ["/v1/events?provider=code_host", "/v1/rejections", "/v1/destinations", "/v1/replays"].map(
        idOf,
      ),
    );
    const [{ changes: changed }] = await app.services.storage.atomically(write(change, {}));
    expect(changed).toBeGreaterThan(0);
  });
  afterAll(async () => {
    await app.stop();
    await gateway.stop();
  });

  test("is shown as it is, and no list fails", async () => {
    const paths = [
      "/v1/events?include=severity,delivery",
      `/v1/events/${event}`,
      "/v1/notifications",
      "/v1/rejections",
      `/v1/rejections/${rejection}`,
      "/v1/issues",
      "/v1/destinations?include=health",
      `/v1/destinations/${destination}?include=health`,
      `/v1/destinations/${destination}/deliveries`,
      "/v1/replays",
      `/v1/replays/${replay}`,
      "/v1/audit",
      "/v1/providers",
      "/v1/statistics/deliveries",
      "/v1/statistics/health",
      "/v1/api/bookings",
    ];
    const answers = await Promise.all(paths.map((path) => app.as("admin", path)));
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    const failed = paths.filter((__, index) => answers[index]?.status !== 200);
    expect(failed).toEqual([]);
    expect(texts.filter((text) => text.includes(word)).length).toBeGreaterThan(0);
  });
});

test("a destination with a format of a newer version fails its deliveries, and says why", async () => {
  const gateway = testGateway(() => new Response());
  const settings = { ...gateway.env, DESTINATIONS_ALLOW_PRIVATE: "true" };
  const app = await startApp(settings, undefined, { isDocumented: false });
  try {
    await app.services.storage.atomically(write(changes["the format of a destination"], {}));
    // A change makes the server read it again.
    const path = `/v1/destinations/${operatorGateway.id}`;
    for (const state of ["paused", "active"]) {
      const change = { ...post({ state }), method: "PATCH" };
      expect((await app.as("admin", path, change)).status).toBe(200);
    }
    const second = { name: "second", url: gateway.url, format: "json" };
    expect((await app.as("admin", "/v1/destinations", post(second))).status).toBe(201);
    const { id } = await json(await app.deliverSample("code_host", "package.published"));
    await until(async () => {
      const [notification] = await timelineOf(app, id);
      return itemsOf(notification?.["attempts"]).length === 2;
    });
    const [notification] = await timelineOf(app, id);
    const errors = itemsOf(notification?.["attempts"]).map(({ error }) => String(error));
    expect(errors.toSorted()).toEqual([
      `This version of Skyhook does not know the format ${word}. Upgrade this instance.`,
      "null",
    ]);
  } finally {
    await app.stop();
    await gateway.stop();
  }
});
