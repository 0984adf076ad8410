import { afterEach, describe, expect, test } from "bun:test";

import { AppError } from "../../../src/base/errors.ts";
import { giveSeatsBack } from "../../../src/booking/flights/flights.sql.ts";
import type { FlightPlan } from "../../../src/booking/model/flight.ts";
import type { Payment } from "../../../src/booking/model/payment.ts";
import {
  countPayment,
  insertPayment,
  setRefunded,
} from "../../../src/booking/payments/payments.sql.ts";
import { write } from "../../../src/db/statement.ts";
import { json, jsonWith, startApp } from "../../support/app.ts";
import { bookingsPath as path, eventsAbout, expire } from "../../support/bookings.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";
import { expectHolds } from "../../support/holds.ts";
import { untilLater } from "../../support/notifying.ts";
import { holdSeat, type Money, paymentEvent } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const holdMs = 20 * 60_000;

const app = appForAll();
afterEach(() => expectHolds(app));

let number = 0;

/** A signed event about a payment, with a new id. */
function event(type: string, money: Money) {
  number += 1;
  return paymentEvent(app, number, type, money);
}

/** Delivers an event and returns its timeline. */
async function deliver(body: string): Promise<Record<string, unknown>> {
  const { id } = await jsonWith(await app.deliver("payment_processor", body), 200);
  return json(await app.as("operator", `/v1/events/${String(id)}`));
}

const pay = async (money: Money) => deliver(event("payment_intent.succeeded", money));
const refund = async (money: Money) => deliver(event("charge.refunded", money));
const fail = async (money: Money) => deliver(event("payment_intent.payment_failed", money));

async function hold(fields: Partial<FlightPlan> = {}, seats = 1) {
  number += 1;
  const flight = await addFlight(app, { flightNumber: `PM${number}`, ...fields });
  return { flight, ...(await holdOn(flight.id, seats)) };
}

async function holdOn(flightId: number, seats = 1, bearer?: string) {
  const response = await app.as(
    "user",
    path,
    post({ ...bookingBody(flightId, seats), hold: true }),
    bearer,
  );
  const { bookingId, reference } = await jsonWith(response, 201);
  return { id: String(bookingId), reference: String(reference) };
}

async function read(id: string): Promise<Record<string, unknown>> {
  return json(await app.as("admin", `${path}/${id}`));
}

const cancel = (id: string) => app.as("user", `${path}/${id}`, { method: "DELETE" });

/** The types and titles of the events about a booking, oldest first. */
const eventsOf = async (id: string) =>
  (await eventsAbout(app, `booking/${id}`)).map(({ type, title }) => ({ type, title }));

const typesOf = async (id: string) => (await eventsOf(id)).map(({ type }) => type).join(" ");

describe("a payment", () => {
  test.each(["id", "reference"] as const)("confirms the hold that it names by %s", async (by) => {
    const booked = await hold();
    expect((await pay({ booking: booked[by] }))["effect"]).toBe(`confirmed ${booked.id}`);
    expect(await read(booked.id)).toMatchObject({ status: "confirmed" });
    expect(await typesOf(booked.id)).toBe("booking.held booking.confirmed");
    app.clock.advance(2 * holdMs);
    expect(await read(booked.id)).toMatchObject({ status: "confirmed" });
    expect(await seatsLeft(app, booked.flight.id)).toBe(9);
  });

  test.each([
    ["JPY", 50_000, 50_000],
    ["KWD", 12_345, 12_345],
    ["EUR", 100, 100],
    // Stripe counts kronur in hundredths.
    ["ISK", 500, 50_000],
    ["UGX", 7, 700],
    ["MGA", 500, 5],
  ])("is compared in the minor units of %s", async (currency, priceMinor, amount) => {
    const booked = await hold({ currency, priceMinor });
    const lower = currency.toLowerCase();
    expect(
      (await pay({ booking: booked.id, amount: amount - 1, currency: lower }))["effect"],
    ).toContain("no effect");
    expect((await pay({ booking: booked.id, amount, currency: lower }))["effect"]).toBe(
      `confirmed ${booked.id}`,
    );
  });

  test.each([
    [{ amount: 49_949 }, "USD 499.49 was paid"],
    [{ amount: 49_951 }, "USD 499.51 was paid"],
    [{ amount: 0 }, "USD 0.00 was paid"],
    [{ currency: "eur" }, "EUR 499.50 was paid"],
    [{ currency: "jpy" }, "JPY 49,950 was paid"],
    [{ currency: "btc" }, "btc 49950 was paid"],
    [{ currency: null }, "(missing) 49950 was paid"],
    [{ currency: { a: 1 } }, "(object) 49950 was paid"],
    [{ amount: "49950" }, 'USD "49950" was paid'],
    [{ amount: -49_950 }, "USD -49950 was paid"],
    [{ amount: 49_950.5 }, "USD 49950.5 was paid"],
    [{ amount: 1e300 }, "USD 1e+300 was paid"],
    [{ amount: Number.MAX_SAFE_INTEGER }, "USD 9007199254740991 was paid"],
    [{ amount: [49_950] }, "USD (object) was paid"],
    [{ amount: null }, "was paid"],
  ])("of %j leaves the booking and notifies operators", async (wrong, figure) => {
    const booked = await hold();
    const mistaken = { booking: booked.id, ...wrong, payment: `pi_of_${booked.id}` };
    const timeline = await pay(mistaken);
    expect(timeline["effect"]).toContain(figure);
    expect(timeline["effect"]).toContain(`but ${booked.id} costs USD 499.50`);
    expect(await read(booked.id)).toMatchObject({ status: "held" });
    const [, mismatch, ...others] = await eventsOf(booked.id);
    expect(others).toEqual([]);
    expect(mismatch?.type).toBe("payment.mismatch");
    expect(mismatch?.title).toContain("instead of USD 499.50");
    expect((await pay(mistaken))["effect"]).toBe(
      `no effect: ${booked.id}: reported before (mismatch)`,
    );
    expect(await typesOf(booked.id)).toBe("booking.held payment.mismatch");
    expect((await pay({ booking: booked.id }))["effect"]).toBe(`confirmed ${booked.id}`);
  });

  test.each([
    ["bk_0", "no effect: there is no booking bk_0"],
    ["ABCDEF", "no effect: there is no booking ABCDEF"],
    [42, "no effect: there is no booking 42"],
    [["x"], "no effect: there is no booking (object)"],
    ["' or 1=1 --", "no effect: there is no booking ' or 1=1 --"],
    ["\u0000\u202e", "no effect: there is no booking"],
    ["x".repeat(5_000), "no effect: there is no booking xxx"],
  ])("for %j is kept and explained", async (booking, expected) => {
    const timeline = await pay({ booking });
    expect(timeline["effect"]).toContain(expected);
    expect(String(timeline["effect"]).length).toBeLessThan(100);
  });

  test("without a booking has no effect, or none yet while other bookings are held", async () => {
    const { effect, status } = await pay({});
    expect(effect ?? "no effect yet: the payment names no booking").toBe(
      "no effect yet: the payment names no booking",
    );
    expect(status).toBe("accepted");
  });

  test("has one effect, however often its event arrives", async () => {
    const booked = await hold();
    const body = event("payment_intent.succeeded", { booking: booked.id, payment: "pi_same" });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => app.deliver("payment_processor", body)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const { id } = await json(answers[0] ?? Response.error());
    expect(await json(await app.as("operator", `/v1/events/${String(id)}`))).toMatchObject({
      effect: `confirmed ${booked.id}`,
      receipt: { duplicates: 7 },
    });
    const replay = await app.as("operator", `/v1/events/${String(id)}/replay`, { method: "POST" });
    expect(await json(replay)).toMatchObject({ effect: `confirmed ${booked.id}` });
    expect((await pay({ booking: booked.id, payment: "pi_same" }))["effect"]).toBe(
      `no effect: already confirmed ${booked.id}`,
    );
    expect(await typesOf(booked.id)).toBe("booking.held booking.confirmed");
  });

  test("confirms once if different events of it arrive at once", async () => {
    const booked = await hold();
    const effects = await Promise.all(
      Array.from({ length: 8 }, () => pay({ booking: booked.id, payment: "pi_at_once" })),
    );
    expect(
      effects.map(({ effect }) => String(effect)).toSorted((one, other) => (one < other ? -1 : 1)),
    ).toEqual([
      `confirmed ${booked.id}`,
      ...Array(7).fill(`no effect: already confirmed ${booked.id}`),
    ]);
  });

  test("is stored however many of one booking arrive at once", async () => {
    const { id: booking } = await hold();
    const bodies = Array.from({ length: 60 }, () =>
      event("payment_intent.payment_failed", { booking }),
    );
    const answers = await Promise.all(
      bodies.map(async (body) => (await app.deliver("payment_processor", body)).status),
    );
    expect(new Set(answers)).toEqual(new Set([200]));
    expect((await read(booking))["payments"]).toHaveLength(60);
  });

  test("pays for one booking only", async () => {
    const [one, other] = [await hold(), await hold()];
    await pay({ booking: one.id, payment: "pi_for_one" });
    expect((await pay({ booking: other.id, payment: "pi_for_one" }))["effect"]).toBe(
      `no effect: this payment confirmed ${one.id}`,
    );
    expect(await read(other.id)).toMatchObject({ status: "held" });
  });

  test.each(["payment_intent.succeeded", "payment_intent.payment_failed", "charge.refunded"])(
    "that is a test has no effect: %s",
    async (type) => {
      const booked = await hold();
      const body = JSON.parse(event(type, { booking: booked.id }));
      const timeline = await deliver(JSON.stringify({ ...body, livemode: false }));
      expect(timeline["effect"]).toBe(
        "no effect: a test payment, and PAYMENT_PROCESSOR_TEST_MODE is off",
      );
      expect(await read(booked.id)).toMatchObject({ status: "held", payments: [], refund: null });
      expect(await typesOf(booked.id)).toBe("booking.held");
    },
  );

  test.each([
    [false, { PAYMENT_PROCESSOR_TEST_MODE: "true" }],
    [true, {}],
    [undefined, {}],
    ["false", {}],
    [null, {}],
  ])("with livemode %p confirms its booking with the settings %j", async (livemode, env) => {
    await using other = await startApp(env);
    const booking = await holdSeat(other, (await addFlight(other)).id);
    const body = JSON.parse(paymentEvent(other, 1, "payment_intent.succeeded", { booking }));
    await other.deliver("payment_processor", JSON.stringify({ ...body, livemode }));
    const shown = await json(await other.as("admin", `${path}/${booking}`));
    expect(shown["status"]).toBe("confirmed");
  });

  test("to another account, which can name any booking, confirms nothing", async () => {
    const booked = await hold();
    const body = JSON.parse(event("payment_intent.succeeded", { booking: booked.id }));
    const timeline = await deliver(JSON.stringify({ ...body, account: "acct_other" }));
    expect(timeline["effect"]).toBe("no effect: the money is another account's");
    expect(await read(booked.id)).toMatchObject({ status: "held" });
  });

  test("after expiry takes seats again, if they are left", async () => {
    const booked = await hold({}, 2);
    await expire(app, booked.id);
    expect(await seatsLeft(app, booked.flight.id)).toBe(10);
    expect((await pay({ booking: booked.id, amount: 99_900 }))["effect"]).toBe(
      `confirmed ${booked.id} with new seats`,
    );
    expect(await seatsLeft(app, booked.flight.id)).toBe(8);
    expect(await typesOf(booked.id)).toBe("booking.held booking.expired booking.confirmed");
  });

  test("after expiry is reported if the seats are sold", async () => {
    const booked = await hold({ seats: 1 });
    await expire(app, booked.id);
    const rival = await holdOn(booked.flight.id);
    expect((await pay({ booking: booked.id }))["effect"]).toBe(
      `no effect: ${booked.id} has expired, and too few seats are for sale`,
    );
    expect(await typesOf(booked.id)).toBe("booking.held booking.expired payment.unseated");
    expect(await read(booked.id)).toMatchObject({ status: "expired" });
    expect((await pay({ booking: rival.id }))["effect"]).toBe(`confirmed ${rival.id}`);
  });

  test("after sales have ended is reported, even if seats are left", async () => {
    const departureTime = new Date(app.clock.now() + 70 * 60_000);
    const booked = await hold({ departureTime });
    await expire(app, booked.id);
    expect((await pay({ booking: booked.id }))["effect"]).toBe(
      `no effect: ${booked.id} has expired, and too few seats are for sale`,
    );
    expect(await typesOf(booked.id)).toContain("payment.unseated");
    expect(await seatsLeft(app, booked.flight.id)).toBe(10);
  });

  test("of expired holds never sells a seat twice", async () => {
    const flight = await addFlight(app, { flightNumber: "PMR", seats: 3 });
    const first = await Promise.all([1, 2, 3].map(() => holdOn(flight.id)));
    for (const { id } of first) await expire(app, id);
    await holdOn(flight.id);
    const effects = await Promise.all(first.map(({ id }) => pay({ booking: id })));
    const confirmed = effects.filter(({ effect }) => String(effect).startsWith("confirmed"));
    expect(confirmed).toHaveLength(2);
    expect(await seatsLeft(app, flight.id)).toBe(0);
  });

  test("of 100 expiring holds among 700 rivals sells each seat once", async () => {
    const seats = 100;
    const flight = await addFlight(app, { flightNumber: "PMX", seats });
    const holds = await Promise.all(
      Array.from({ length: seats }, (_, index) => holdOn(flight.id, 1, `holder ${index}`)),
    );
    app.clock.advance(holdMs - 1);
    const payments = holds.map(({ id }, index) =>
      index % 2 === 0 ? pay({ booking: id }) : Promise.resolve({ effect: null }),
    );
    app.clock.advance(1);
    const rivals = Array.from({ length: 700 }, async (_, index) => {
      const body = bookingBody(flight.id);
      return (await app.as("user", path, post(body), `rival ${index}`)).status;
    });
    const [effects, statuses] = await Promise.all([Promise.all(payments), Promise.all(rivals)]);
    const late = await Promise.all(
      holds.map(({ id }) => pay({ booking: id, payment: `late_${id}` })),
    );
    const isOver = async (id: string) => (await read(id))["status"] !== "held";
    for (const { id } of holds) await untilLater(app, () => isOver(id), 100);
    const paid = [...effects, ...late].filter(({ effect }) =>
      String(effect).startsWith("confirmed"),
    );
    const sold = statuses.filter((status) => status === 201).length;
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
    expect(await seatsLeft(app, flight.id)).toBe(seats - paid.length - sold);
    const unseated = late.filter(({ effect }) => String(effect).includes("too few seats"));
    const surplus = late.filter(({ effect }) => String(effect).includes("was paid before"));
    // Each late payment confirms its hold, comes second, or is money to give back.
    const confirmedLate = late.filter(({ effect }) => String(effect).startsWith("confirmed"));
    expect(confirmedLate.length + unseated.length + surplus.length).toBe(seats);
  });

  test("of a cancelled hold is reported", async () => {
    const booked = await hold();
    await cancel(booked.id);
    expect((await pay({ booking: booked.id }))["effect"]).toBe(
      `no effect: ${booked.id} is cancelled`,
    );
    expect(await typesOf(booked.id)).toBe("booking.held booking.cancelled payment.unseated");
    expect(await seatsLeft(app, booked.flight.id)).toBe(10);
  });

  test("does nothing to a booking that was confirmed at once", async () => {
    const flight = await addFlight(app, { flightNumber: "PMB" });
    const made = await json(await app.as("user", path, post(bookingBody(flight.id))));
    const id = String(made["bookingId"]);
    const before = await read(id);
    expect((await pay({ booking: id }))["effect"]).toBe(
      `no effect: ${id} was confirmed without a payment`,
    );
    expect(await read(id)).toEqual(before);
    expect(before).toMatchObject({ payments: [], refund: null });
    expect(await typesOf(id)).toBe("booking.confirmed");
  });

  test("that failed is in the booking's history, and the next one confirms", async () => {
    const booked = await hold();
    const failed = await fail({ booking: booked.id, payment: "pi_retried" });
    expect(failed["effect"]).toBe(`no effect: the payment of ${booked.id} failed`);
    await pay({ booking: booked.id, payment: "pi_retried" });
    const { history, payments } = await read(booked.id);
    expect(history).toMatchObject([
      { type: "booking.held" },
      { type: "payment.failed", title: "Payment of USD 499.50 failed", eventId: failed["id"] },
      { type: "payment.confirmed" },
      { type: "booking.confirmed" },
    ]);
    expect(payments).toMatchObject([{ status: "failed" }, { status: "confirmed" }]);
  });

  test("is reported after any number of failed ones", async () => {
    const { id: booking } = await hold();
    const failed = Array.from({ length: 210 }, () => fail({ booking }));
    const effects = (await Promise.all(failed)).map(({ effect }) => String(effect));
    expect(effects).toContain(`no effect: ${booking} has 100 such events already`);
    expect((await read(booking))["payments"]).toHaveLength(100);
    await pay({ booking, amount: 1 });
    await pay({ booking });
    await pay({ booking });
    expect(await typesOf(booking)).toBe(
      "booking.held payment.mismatch booking.confirmed payment.surplus",
    );
  });

  test("is notified of without personal data", async () => {
    const booked = await hold();
    await pay({ booking: booked.id, amount: 1 });
    const list = await app.as("operator", "/v1/events?provider=bookings&limit=100");
    expect(await list.text()).not.toMatch(/ada@|lovelace|test-user/i);
  });

  test("is stored together with its effect, or not at all", async () => {
    const booked = await hold();
    // The database refuses a second payment of a booking, which makes the effect fail.
    const rival: Payment = {
      eventId: "evt_0",
      // Guarantee: the API returned it.
      bookingId: booked.id as Payment["bookingId"],
      provider: "payment_processor",
      reference: "pi_rival",
      amountMinor: 49_950,
      currency: "USD",
      amount: "USD 499.50",
      occurredAt: new Date(app.clock.now()),
      part: null,
      outcome: "confirmed",
      actor: null,
      note: null,
      createdAt: new Date(app.clock.now()),
    };
    await app.services.storage.atomically(write(insertPayment, rival));
    const body = event("payment_intent.succeeded", { booking: booked.id });
    expect((await app.deliver("payment_processor", body)).status).toBe(503);
    const list = await app.as("operator", "/v1/events?provider=payment_processor&limit=100");
    expect(await list.text()).not.toContain(`payment_processor:evt_${number}"`);
    expect(await read(booked.id)).toMatchObject({ status: "held" });
  });

  test("survives the expiry and cancellation that race with it, with one winner", async () => {
    for (let round = 0; round < 10; round += 1) {
      const booked = await hold();
      app.clock.advance(holdMs - 1);
      const racing = [
        pay({ booking: booked.id }),
        cancel(booked.id).then(() => ({})),
        Promise.resolve(app.clock.advance(1)).then(() => ({})),
      ];
      await Promise.all(racing);
      await untilLater(app, async () => (await read(booked.id))["status"] !== "held", 100);
      const { status } = await read(booked.id);
      expect(await seatsLeft(app, booked.flight.id)).toBe(status === "confirmed" ? 9 : 10);
    }
  });
});

describe("a refund", () => {
  /** A booking that was paid and, unless told otherwise, cancelled. */
  async function paid({ cancelled = true } = {}) {
    const booked = await hold();
    const payment = `pi_of_${booked.id}`;
    const { id: paidBy } = await pay({ booking: booked.id, payment });
    if (cancelled) expect((await cancel(booked.id)).status).toBe(200);
    return { ...booked, payment, paidBy };
  }

  const quoted = async (id: string) => json(await app.as("user", `${path}/${id}/cancellation`));

  test("is pending when the booking is cancelled, then partial, then succeeded", async () => {
    const booked = await paid();
    const due = { amount: 499.5, currency: "USD" };
    expect(await read(booked.id)).toMatchObject({
      status: "cancelled",
      cancellation: { refund: { ...due, status: "pending" } },
      refund: { ...due, refunded: 0, status: "pending", payouts: [] },
      payments: [{ ...due, status: "confirmed", eventId: booked.paidBy }],
    });
    const part = await refund({ ...booked, booking: booked.id, amount: 20_000 });
    expect(part["effect"]).toBe(`refunded USD 200.00 of ${booked.id}`);
    expect(await read(booked.id)).toMatchObject({
      cancellation: { refund: { status: "partial" } },
      refund: { refunded: 200, status: "partial", payouts: [{ amount: 200, eventId: part["id"] }] },
    });
    const rest = await refund({ ...booked, booking: booked.id, amount: 49_950 });
    expect(await read(booked.id)).toMatchObject({
      status: "cancelled",
      cancellation: { refund: { status: "succeeded" } },
      refund: { refunded: 499.5, status: "succeeded", payouts: [{}, { eventId: rest["id"] }] },
    });
    expect(await quoted(booked.id)).toMatchObject({ refund: { status: "succeeded" } });
    expect((await eventsOf(booked.id)).slice(-2)).toEqual([
      {
        type: "booking.refunded",
        title: `Booking ${booked.reference} refunded: USD 200.00 of USD 499.50`,
      },
      {
        type: "booking.refunded",
        title: `Booking ${booked.reference} refunded: USD 499.50 of USD 499.50`,
      },
    ]);
  });

  test("is found by its payment if it names no booking", async () => {
    const booked = await paid();
    expect((await refund({ payment: booked.payment, amount: 49_950 }))["effect"]).toBe(
      `refunded USD 499.50 of ${booked.id}`,
    );
  });

  test("counts once, in whatever order its events arrive", async () => {
    const booked = await paid();
    const of = (amount: number) => refund({ ...booked, booking: booked.id, amount });
    expect((await of(30_000))["effect"]).toBe(`refunded USD 300.00 of ${booked.id}`);
    expect((await of(10_000))["effect"]).toBe(
      `no effect: USD 300.00 of ${booked.id} was refunded before`,
    );
    const same = await Promise.all([of(40_000), of(40_000), of(40_000)]);
    expect(same.filter(({ effect }) => String(effect).startsWith("refunded"))).toHaveLength(1);
    expect(await read(booked.id)).toMatchObject({ refund: { refunded: 400 } });
  });

  test.each([
    [49_951, "a refund of USD 499.51, but USD 499.50 was paid"],
    [999_999_999_999_999, "a refund of USD 9,999,999,999,999.99, but USD 499.50 was paid"],
  ])("of %d, which is more than was paid, is reported and not counted", async (amount, why) => {
    const booked = await paid();
    for (const effect of [
      `no effect: ${booked.id}: ${why}`,
      expect.stringMatching(/^no effect: bk_\w+: a refund of .* was recorded before$/),
    ]) {
      expect((await refund({ ...booked, booking: booked.id, amount }))["effect"]).toEqual(effect);
    }
    expect(await read(booked.id)).toMatchObject({ refund: { refunded: 0, status: "pending" } });
    expect((await typesOf(booked.id)).match(/payment.overrefunded/g)).toHaveLength(1);
  });

  test.each([
    [{ currency: "eur" }],
    [{ amount: "49950" }],
    [{ amount: -1 }],
    [{ amount: 0.5 }],
    [{ currency: 7 }],
  ])("of %j is reported and not counted", async (wrong) => {
    const booked = await paid();
    expect((await refund({ ...booked, booking: booked.id, ...wrong }))["effect"]).toContain(
      "is no refund of USD 499.50",
    );
    expect(await read(booked.id)).toMatchObject({ refund: { refunded: 0, status: "pending" } });
    expect(await typesOf(booked.id)).toEndWith(" payment.mismatch");
  });

  test("before the booking is cancelled counts, and is reported", async () => {
    const booked = await paid({ cancelled: false });
    await refund({ ...booked, booking: booked.id, amount: 49_950 });
    expect(await read(booked.id)).toMatchObject({
      status: "confirmed",
      refund: { amount: 0, refunded: 499.5 },
    });
    expect(await typesOf(booked.id)).toEndWith(" booking.refunded payment.overrefunded");
    await cancel(booked.id);
    expect(await read(booked.id)).toMatchObject({
      cancellation: { refund: { status: "succeeded" } },
    });
  });

  test("that arrives before its payment keeps a refunded payment from confirming", async () => {
    const booked = await hold();
    const payment = "pi_early";
    expect((await refund({ booking: booked.id, payment }))["effect"]).toBe(
      `no effect: refund of a payment that did not confirm ${booked.id}`,
    );
    expect((await pay({ booking: booked.id, payment }))["effect"]).toBe(
      `no effect: the payment of ${booked.id} was refunded before its event arrived`,
    );
    expect(await read(booked.id)).toMatchObject({ status: "held" });
  });

  test("of a part that arrives before its payment counts, and is reported", async () => {
    const booked = await hold();
    const payment = "pi_early_part";
    await refund({ booking: booked.id, payment, amount: 20_000 });
    // Neither counts: the amount cannot be read, or is in another currency.
    await refund({ booking: booked.id, payment, amount: "30000" });
    await refund({ booking: booked.id, payment, amount: 30_000, currency: "jpy" });
    expect((await pay({ booking: booked.id, payment }))["effect"]).toBe(
      `confirmed ${booked.id}; USD 200.00 was refunded before`,
    );
    expect((await eventsOf(booked.id)).slice(1)).toEqual([
      { type: "booking.confirmed", title: expect.any(String) },
      {
        type: "booking.refunded",
        title: `Booking ${booked.reference} refunded: USD 200.00 of USD 499.50`,
      },
      {
        type: "payment.overrefunded",
        title: `Booking ${booked.reference} was refunded USD 200.00; USD 0.00 was due and USD 499.50 paid`,
      },
    ]);
    const { refund: progress, history } = await read(booked.id);
    expect(progress).toMatchObject({
      refunded: 200,
      payouts: [{ status: "refunded" }, { status: "unmatched" }, { status: "unmatched" }],
    });
    expect(history).toContainEqual(
      expect.objectContaining({ title: "Refunded USD 200.00 in all, none was due" }),
    );
    await cancel(booked.id);
    expect((await refund({ booking: booked.id, payment }))["effect"]).toBe(
      `refunded USD 499.50 of ${booked.id}`,
    );
  });

  test("in another currency that arrives before its payment does not keep it from confirming", async () => {
    const booked = await hold();
    const payment = "pi_yen";
    await refund({ booking: booked.id, payment, currency: "jpy", amount: 99_900 });
    expect((await pay({ booking: booked.id, payment }))["effect"]).toBe(`confirmed ${booked.id}`);
    expect(await read(booked.id)).toMatchObject({ status: "confirmed", refund: { refunded: 0 } });
  });

  test("counts for the booking that its payment confirmed, whatever booking it names", async () => {
    const other = await hold();
    for (const booking of [other.id, "for my trip", "bk_0", ["x"]]) {
      const booked = await paid({ cancelled: true });
      expect((await refund({ ...booked, booking, amount: 10_000 }))["effect"]).toBe(
        `refunded USD 100.00 of ${booked.id}`,
      );
    }
    expect(await read(other.id)).toMatchObject({ status: "held", payments: [], refund: null });
  });

  test("of a second payment is not counted for the first", async () => {
    const booked = await paid();
    await pay({ booking: booked.id, payment: "pi_late" });
    expect((await refund({ booking: booked.id, payment: "pi_late" }))["effect"]).toContain(
      "did not confirm",
    );
    expect(await read(booked.id)).toMatchObject({
      refund: { refunded: 0, payouts: [{ status: "unmatched" }] },
      payments: [{ status: "confirmed" }, { status: "unseated" }],
    });
  });

  test("that names no payment is not counted for a payment with an id", async () => {
    const booked = await paid();
    for (const payment of [undefined, null, "x".repeat(300)]) {
      const body = JSON.parse(event("charge.refunded", { booking: booked.id }));
      body.data.object.payment_intent = payment;
      const timeline = await deliver(JSON.stringify(body));
      expect(timeline["effect"]).toBe(
        `no effect: refund of a payment that did not confirm ${booked.id}`,
      );
    }
    expect(await read(booked.id)).toMatchObject({ refund: { refunded: 0, status: "pending" } });
  });

  test("can never exceed what was paid, whatever a statement says", async () => {
    const { id } = await paid();
    const { storage } = app.services;
    const updatedAt = new Date(app.clock.now());
    for (const refundedMinor of [49_951, -1]) {
      const change = { id: id as `bk_${string}`, refundedMinor, updatedAt };
      expect(storage.atomically(write(setRefunded, change))).rejects.toThrow();
    }
  });

  test("is not stored where the payment came too late", async () => {
    const { flight, id } = await hold();
    const { storage } = app.services;
    const tooLate = new AppError("internal", "The booking has changed");
    // Guarantee: the API returned it.
    const booking = { id: id as `bk_${string}`, updatedAt: new Date(app.clock.now()) };
    const refused = storage.atomically(
      // PostgreSQL sends what follows the first statement at once.
      write(giveSeatsBack, { id: flight.id, seats: 0, revision: 0 }),
      write(countPayment, { ...booking, status: "expired", revision: 0, paymentCount: 0 }, tooLate),
      write(setRefunded, { ...booking, refundedMinor: 1 }, tooLate),
    );
    expect(refused).rejects.toBe(tooLate);
  });
});
