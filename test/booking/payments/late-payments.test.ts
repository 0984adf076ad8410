import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { eq } from "drizzle-orm";

import { firstPositionAt, idAt, positionIn } from "../../../src/base/ids.ts";
import {
  deleteNoticesOf,
  insertWaitingNotice,
} from "../../../src/booking/payments/waiting-notices.sql.ts";
import { Place } from "../../../src/db/place.ts";
import { statementsOver, type Write, write } from "../../../src/db/statement.ts";
import { firstPosition } from "../../../src/event/event.sql.ts";
import { emptyEvent, eventsTable } from "../../../src/event/event.ts";
import { insertEvent } from "../../../src/event/events.sql.ts";
import { deleteSettledEvents } from "../../../src/events/retention/retention.sql.ts";
import { setEffect } from "../../../src/inbound/receive/late-payments.sql.ts";
import { json, startApp, type TestApp } from "../../support/app.ts";
import { eventsAbout } from "../../support/bookings.ts";
import { defaultDialect, postgresDatabase, type TestDatabase } from "../../support/databases.ts";
import { addFlight } from "../../support/flights.ts";
import { untilLater } from "../../support/notifying.ts";
import { holdSeat, type Money, paymentEvent } from "../../support/payments.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { runs } from "../../support/runs.ts";

let folder: string;
let database: TestDatabase | null = null;
let app: TestApp;
let number = 0;
beforeEach(async () => {
  folder = temporaryFolder();
  // Kept by a restart, unlike the database in memory of other tests.
  if (defaultDialect === "postgres") database = await postgresDatabase();
});
afterEach(async () => {
  await app.stop();
  await database?.[Symbol.asyncDispose]();
  removeFolder(folder);
});

async function start(env: Record<string, string> = {}): Promise<void> {
  app = await startApp(
    { DATABASE_URL: database?.url ?? `sqlite:${join(folder, "db")}`, ...env },
    app?.clock,
  );
}

/** Ends the server, and starts it again on the same database. */
async function restart(env: Record<string, string> = {}): Promise<void> {
  await app.stop();
  await start(env);
}

const hold = async () => holdSeat(app, (await addFlight(app)).id);
const read = async (id: string) => json(await app.as("admin", `/v1/api/bookings/${id}`));
const effectOf = async (id: unknown) =>
  (await json(await app.as("operator", `/v1/events/${String(id)}`)))["effect"];
/** Waits until the background work has given the event this effect. */
const becomes = (id: unknown, effect: string) =>
  untilLater(app, async () => (await effectOf(id)) === effect, 1_000);

async function deliver(type: string, money: Money, fields: object = {}): Promise<string> {
  number += 1;
  const body = { ...JSON.parse(paymentEvent(app, number, type, money)), ...fields };
  const response = await app.deliver("payment_processor", JSON.stringify(body));
  expect(response.status).toBe(200);
  return String((await json(response))["id"]);
}
const pay = (money: Money) => deliver("payment_intent.succeeded", money);
const refund = (money: Money) => deliver("charge.refunded", money);

const eventTypes = async (booking: string) =>
  (await eventsAbout(app, `booking/${booking}`)).map(({ type }) => type);

/** Stores an event at an earlier position, as an instance did whose transaction took long. */
const setPosition = statementsOver({ events: eventsTable })<{ position: number; received: Date }>()(
  (db, { events }, p) =>
    db
      .update(events)
      .set({ position: firstPosition(p.received) })
      .where(eq(events.position, p.position)),
);

describe("a refund that names no booking and arrives before its payment", () => {
  beforeEach(() => start());

  test("waits for its payment, and counts once it arrives", async () => {
    const booking = await hold();
    const refunded = await refund({ payment: "pi_1", amount: 10_000 });
    expect(await effectOf(refunded)).toBe("no effect yet: waits for the payment pi_1 of a booking");
    const paid = await pay({ payment: "pi_1", booking });
    expect(await effectOf(paid)).toBe(`confirmed ${booking}; USD 100.00 was refunded before`);
    expect(await effectOf(refunded)).toBe(`refunded USD 100.00 of ${booking}`);
    expect(await read(booking)).toMatchObject({
      status: "confirmed",
      refund: { refunded: 100, payouts: [{ status: "refunded", eventId: refunded }] },
    });
    await restart();
    app.clock.advance(600_000);
    expect(await read(booking)).toMatchObject({ refund: { refunded: 100 } });
    expect((await eventTypes(booking)).join(" ")).toBe(
      "booking.held booking.confirmed booking.refunded payment.overrefunded",
    );
  });

  test("keeps a payment that it returned in full from confirming", async () => {
    const booking = await hold();
    const refunded = await refund({ payment: "pi_1" });
    const paid = await pay({ payment: "pi_1", booking });
    expect(await effectOf(paid)).toBe(
      `no effect: the payment of ${booking} was refunded before its event arrived`,
    );
    expect(await effectOf(refunded)).toBe(
      `no effect: refund of a payment that did not confirm ${booking}`,
    );
    expect(await read(booking)).toMatchObject({ status: "held" });
  });

  test("counts once however often both events arrive at the same time", async () => {
    for (let round = 0; round < runs(10); round += 1) {
      const booking = await hold();
      const payment = `pi_round_${round}`;
      const [refunded] = await Promise.all([
        refund({ payment, amount: 10_000 }),
        pay({ payment, booking }),
        refund({ payment, amount: 10_000 }),
        pay({ payment, booking }),
      ]);
      const isWaiting = async () => String(await effectOf(refunded)).startsWith("no effect yet");
      await untilLater(app, async () => !(await isWaiting()), 100);
      expect(await read(booking)).toMatchObject({ status: "confirmed", refund: { refunded: 100 } });
      const types = await eventTypes(booking);
      expect(types.filter((type) => type === "booking.refunded")).toEqual(["booking.refunded"]);
    }
  });

  test.each(["after a restart", "while the server runs"])(
    "is found if an instance ended before it looked: %s",
    async (when) => {
      const booking = await hold();
      await pay({ payment: "pi_1", booking });
      // As another instance left it: it committed the refund at the same time as the payment, so it did not see that.
      const refunded = await refund({ amount: 10_000, payment: "pi_other" });
      const id = `evt_${refunded.slice(4)}` as const;
      await app.services.storage.atomically(
        write(insertWaitingNotice, {
          eventId: "evt_left",
          provider: "payment_processor",
          reference: "pi_1",
          notice: {
            provider: "payment_processor",
            kind: "refunded",
            booking: null,
            payment: "pi_1",
            part: null,
            note: null,
            atMs: null,
            amountMinor: 10_000,
            currency: "USD",
            isForeign: false,
            isTest: false,
            amount: "USD 100.00",
          },
          createdAt: new Date(app.clock.now()),
          notifyAt: null,
        }),
      );
      if (when === "after a restart") await restart();
      await untilLater(app, async () => (await read(booking))["refund"] !== null, 1_000);
      expect(await read(booking)).toMatchObject({ refund: { refunded: 100 } });
      expect(await effectOf(id)).toBe("no effect yet: waits for the payment pi_other of a booking");
    },
  );

  test("waits no longer than retention keeps its event", async () => {
    const booking = await hold();
    const id = `evt_${(await refund({ payment: "pi_1", amount: 10_000 })).slice(4)}` as const;
    const position = positionIn(id);
    await app.services.storage.atomically(
      write(deleteSettledEvents, { positions: [position] }),
      write(deleteNoticesOf, { first: position, last: position }),
    );
    await pay({ payment: "pi_1", booking });
    expect(await read(booking)).toMatchObject({ status: "confirmed", refund: null });
  });

  test.each([
    ["of another account", { account: "acct_other" }],
    ["of a test", { livemode: false }],
  ])("waits for nothing if it is %s", async (_, fields) => {
    const id = await deliver("charge.refunded", { payment: "pi_1" }, fields);
    expect(await effectOf(id)).toBeNull();
  });
});

describe("a payment stored before its provider's payments were described", () => {
  const unlisted = `displayName: Bank
signature: { kind: hmac, algorithm: sha256, encoding: hex, from: header.x-bank-signature, signs: "{body}" }
deliveryId: /id
event: "{/kind}"
events: { other: {} }
samples: { other: { body: { id: "{id}", kind: other } } }
`;
  const listed = unlisted.replace("events: {", "events: { received: { type: bank.paid },");
  const described = `${listed}bookingReference: /note
payment: { kinds: { received: paid }, amount: /amount, currency: /currency, id: /order }
`;
  const secret = "a secret that only the bank knows";
  const env = () => ({ PROVIDERS_DIR: folder, BANK_WEBHOOK_SECRET: secret });
  const describeAs = (content: string) => writeFileSync(join(folder, "bank.yaml"), content);

  async function transfer(booking: string, order = "order-1"): Promise<string> {
    const fields = { note: booking, amount: 49_950, currency: "USD", order };
    const body = JSON.stringify({ id: crypto.randomUUID(), kind: "received", ...fields });
    const signature = new Bun.CryptoHasher("sha256", secret).update(body).digest("hex");
    const headers = { "x-bank-signature": signature };
    const response = await app.fetch("/webhooks/bank", { method: "POST", headers, body });
    expect(response.status).toBe(200);
    return String((await json(response))["id"]);
  }

  test.each([
    ["listed", "a reload", listed],
    ["not listed", "a reload", unlisted],
    ["listed", "a restart", listed],
  ])("that was %s confirms its booking once, after %s", async (_, how, before) => {
    describeAs(before);
    await start(env());
    const [booking, other] = [await hold(), await hold()];
    const ids = [await transfer(booking), await transfer(other, "order-2")];
    const again = await transfer(booking);
    for (const id of [...ids, again]) expect(await effectOf(id)).toBeNull();
    describeAs(described);
    if (how === "a restart") await restart(env());
    else app.services.reload();
    await becomes(again, `no effect: already confirmed ${booking}`);
    expect(await effectOf(ids[0])).toBe(`confirmed ${booking}`);
    expect(await effectOf(ids[1])).toBe(`confirmed ${other}`);
    await restart(env());
    app.clock.advance(600_000);
    expect(await eventTypes(booking)).toEqual(["booking.held", "booking.confirmed"]);
    expect((await read(booking))["payments"]).toHaveLength(1);
  });

  test("by an instance that was not reloaded yet is found within two minutes, older ones are not read again", async () => {
    describeAs(described);
    await start(env());
    const [booking, old] = [await hold(), await hold()];
    app.clock.advance(600_000);
    // The first search of all times has ended.
    const first = await transfer(booking);
    expect(await effectOf(first)).toBe(`confirmed ${booking}`);
    /** `then`: what its transaction writes too. */
    const stored = async (
      order: string,
      note: string,
      createdAt: Date,
      then: (place: Place) => readonly Write<unknown>[] = () => [],
    ) => {
      const place = new Place(createdAt.getTime());
      const body = { kind: "received", note, amount: 49_950, currency: "USD", order };
      const event = { provider: "bank", type: "bank.paid", status: "accepted" } as const;
      await app.services.storage.atomically(
        write(insertEvent, {
          ...emptyEvent,
          ...event,
          place,
          idempotencyKey: order,
          occurredAt: createdAt,
          createdAt,
          title: "Paid",
          headers: {},
          address: "127.0.0.1",
          body: new Uint8Array(Buffer.from(JSON.stringify(body))),
        }),
        () => then(place),
      );
      return place;
    };
    const nowMs = app.clock.now();
    const received = new Date(nowMs - 500_000);
    // At once: the search must not see it as a new one.
    const { tail } = await stored("one", old, received, ({ position }) => [
      write(setPosition, { position, received }),
    ]);
    const before = idAt("evt", firstPositionAt(received.getTime()), tail);
    const late = await hold();
    const { id } = await stored("other", late, new Date(nowMs));
    await becomes(id, `confirmed ${late}`);
    expect(app.clock.now() - nowMs).toBeLessThan(180_000);
    expect(await effectOf(before)).toBeNull();
  });

  test("keeps the effect that another instance gave it", async () => {
    await start();
    const booking = await hold();
    const paid = `evt_${(await pay({ booking })).slice(4)}` as const;
    const other = `evt_${(await pay({})).slice(4)}` as const;
    const { storage } = app.services;
    const change = async (id: `evt_${string}`) =>
      (await storage.atomically(write(setEffect, { id, effect: "another" })))[0].changes;
    expect([await change(paid), await change(other), await change(other)]).toEqual([0, 1, 0]);
    expect(await effectOf(paid)).toBe(`confirmed ${booking}`);
  });

  test("has no effect without its body, which retention deletes", async () => {
    describeAs(listed);
    await start({ ...env(), BODY_RETENTION_DAYS: "1" });
    const booking = await hold();
    const id = await transfer(booking);
    for (let hour = 0; hour < 50; hour += 1) app.clock.advance(3_600_000);
    const bodyOf = async () => (await json(await app.as("operator", `/v1/events/${id}`)))["body"];
    await untilLater(app, async () => (await bodyOf()) === null, 60_000);
    const fresh = await transfer(booking, "order-2");
    describeAs(described);
    app.services.reload();
    // The older one was searched before.
    await untilLater(app, async () => (await effectOf(fresh)) !== null, 1_000);
    expect(await effectOf(id)).toBeNull();
  });
});
