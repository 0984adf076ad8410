import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { at } from "../../support/graphql.ts";
import { sampleOf } from "../../support/runs.ts";
import { book, cancel, deliverPayment } from "../harness/clients.ts";
import type { CrashPoint } from "../harness/crash-point.ts";
import { databases } from "../harness/databases.ts";
import { World } from "../harness/world.ts";

const insertEvent = `insert into "events"`;
const updateBooking = `update "bookings"`;
const insertPayment = `insert into "payments"`;

/** Where the process is killed, and whether the event has had its effect. */
const steps: readonly (readonly [string, CrashPoint, boolean])[] = [
  ["after the event is written", { moment: "after statement", sql: insertEvent }, false],
  ["after the booking is counted", { moment: "after statement", sql: updateBooking }, false],
  [
    "after the booking is changed",
    { moment: "after statement", sql: updateBooking, nth: 2 },
    false,
  ],
  ["after the payment is recorded", { moment: "after statement", sql: insertPayment }, false],
  ["before the commit", { moment: "before commit", sql: insertPayment }, false],
  ["after the commit, before the answer", { moment: "after commit", sql: insertPayment }, true],
];

const insertWaiting = `insert into "waiting_notices"`;
const deleteWaiting = `delete from "waiting_notices"`;

/** Where the process is killed while a refund waits, or while its payment arrives. */
const lateSteps: readonly (readonly [string, "refund" | "payment", CrashPoint])[] = [
  ["the refund waits", "refund", { moment: "after statement", sql: insertWaiting }],
  ["the commit of a waiting refund", "refund", { moment: "before commit", sql: insertWaiting }],
  ["a waiting refund looks again", "refund", { moment: "after commit", sql: insertWaiting }],
  ["the refund waits no more", "payment", { moment: "after statement", sql: deleteWaiting }],
  ["the refund's commit", "payment", { moment: "before commit", sql: deleteWaiting }],
  ["the payment of the refund", "payment", { moment: "after commit", sql: deleteWaiting }],
];

/** Each case starts two processes. All of them run by night. */
const perRun = 2;

describe.each(databases())("on $name", (kind) => {
  let world: World;
  let number = 0;
  beforeAll(async () => {
    world = await World.open(kind, { dies: true, seats: [100] });
  });
  afterAll(() => world.end());

  async function held(): Promise<string> {
    number += 1;
    const request = { key: `hold-${number}`, flightId: 1, passengers: 2, hold: true };
    const answer = await book(await world.running(), request);
    expect(answer?.body).toMatchObject({ status: "held" });
    return String(at(answer?.body, "bookingId"));
  }

  /** The booking in the database of the dead process. */
  async function left(id: string) {
    const [booking] = await world.left(
      `select status, paid_minor as paid, refunded_minor as refunded from bookings where id = '${id}'`,
    );
    return booking;
  }

  test.each(sampleOf(lateSteps, perRun))(
    "a refund before its payment, killed before %s, is counted once",
    async (_, killed, point) => {
      const id = await held();
      await world.settled();
      const refund = async () =>
        deliverPayment(await world.running(), "charge.refunded", id, 10_000, false);
      const pay = async () =>
        deliverPayment(await world.running(), "payment_intent.succeeded", id, 99_900);
      if (killed === "payment") expect((await refund())?.status).toBe(200);
      world.crashAt(point);
      expect(await (killed === "refund" ? refund() : pay())).toBeNull();
      await world.crashed();
      expect((await refund())?.status).toBe(200);
      expect((await pay())?.status).toBe(200);
      expect((await refund())?.body).toMatchObject({ status: "duplicate" });
      await world.settled();
      const refunds = [...world.notified()].filter(([key]) =>
        key.startsWith(`bookings:${id}:refunded`),
      );
      expect(refunds.map(([, notified]) => notified.length)).toEqual([1]);
      await world.stop();
      expect(await left(id)).toEqual({ status: "confirmed", paid: 99_900, refunded: 10_000 });
      expect(await world.left("select event_id from waiting_notices")).toEqual([]);
    },
  );

  test.each(sampleOf(steps, perRun))(
    "a refund killed %s is counted once",
    async (_, point, isDone) => {
      const id = await held();
      await deliverPayment(await world.running(), "payment_intent.succeeded", id, 99_900);
      expect((await cancel(await world.running(), id))?.status).toBe(200);
      await world.settled();
      const refund = async () =>
        deliverPayment(await world.running(), "charge.refunded", id, 40_000);
      world.crashAt(point);
      expect(await refund()).toBeNull();
      await world.crashed();
      const refunded = { status: "cancelled", paid: 99_900, refunded: 40_000 };
      expect(await left(id)).toEqual(isDone ? refunded : { ...refunded, refunded: 0 });
      expect((await refund())?.status).toBe(200);
      expect((await refund())?.body).toMatchObject({ status: "duplicate" });
      await world.settled();
      await world.stop();
      expect(await left(id)).toEqual(refunded);
    },
  );
});
