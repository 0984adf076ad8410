import { afterEach, describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import {
  bookingCalls,
  bookingsPath,
  changeCalls,
  eventsAbout,
  flightBookings,
} from "../../support/bookings.ts";
import { bookingBody, passenger, post, seatsLeft } from "../../support/flights.ts";
import { dataOf } from "../../support/graphql.ts";
import { expectHolds } from "../../support/holds.ts";
import { untilLater } from "../../support/notifying.ts";
import { paymentsOf } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const hourMs = 3_600_000;
const holdMs = 20 * 60_000;
const app = appForAll();
afterEach(() => expectHolds(app));
const { get, cancel } = bookingCalls(app);
const { call, offerPart, offerFlight, confirm, withdraw } = changeCalls(app);
const { flightIn, booked } = flightBookings(app, "CH");
const { event: pay } = paymentsOf(app, "CH");

const eventsOf = (id: string) => eventsAbout(app, `booking/${id}`);

const historyOf = async (id: string) => {
  const { history } = await json(await app.as("admin", `${bookingsPath}/${id}`));
  // Guarantee: the API's schema.
  return (history as { type: string; title: string }[]).map(({ type, title }) => [type, title]);
};

describe("cancelling a part", () => {
  test("refunds it by the same policy, and parts add up to the whole", async () => {
    // 100.01 for three seats: parts of 33.34, 33.34 and 33.33.
    const flightId = await flightIn(100, 3_334);
    const { id } = await booked(flightId, 3);
    app.clock.advance(hourMs);
    const untouched = await json(await get(id));
    expect(untouched).not.toHaveProperty("changes");
    let refunded = 0;
    for (const [position, left] of [
      [2, 8],
      [1, 9],
      [3, 10],
    ] as const) {
      const offered = await jsonWith(await offerPart(id, [position]), 201);
      expect(offered).toMatchObject({
        kind: "cancellation",
        status: "offered",
        passengers: [position],
        newFlight: null,
        reason: "More than 72 h before departure",
        expiresAt: new Date(app.clock.now() + holdMs).toISOString(),
      });
      const { changeTotal, newTotal, previousTotal, penalty } = offered;
      expect(Number(newTotal) - Number(previousTotal) + Number(penalty)).toBeCloseTo(
        Number(changeTotal),
        5,
      );
      refunded -= Number(changeTotal);
      const made = await jsonWith(await confirm(id, offered["id"]), 200);
      expect(made).toMatchObject({ status: "confirmed", changeTotal });
      // A repeated request changes nothing.
      expect(await jsonWith(await confirm(id, offered["id"]), 200)).toEqual(made);
      expect(await seatsLeft(app, flightId)).toBe(left);
    }
    const read = await json(await get(id));
    expect(read).toMatchObject({
      status: "cancelled",
      refund: { amount: expect.closeTo(refunded, 5), status: "pending" },
      passengers: [
        { cancelledAt: expect.any(String) },
        { cancelledAt: expect.any(String) },
        { firstName: "Ada" },
      ],
    });
    // 90 % of each part, rounded down.
    expect(refunded).toBeCloseTo(30 * 3, 2);
    const types = (await eventsOf(id)).map(({ type }) => type);
    expect(types.join(" ")).toBe(
      "booking.confirmed booking.changed booking.changed booking.cancelled",
    );
    expect(await historyOf(id)).toEqual([
      ["booking.confirmed", "Booked: 3 seats for USD 100.02"],
      ["booking.changed", "1 seat cancelled; USD 30.00 to refund"],
      ["booking.changed", "1 seat cancelled; USD 30.00 to refund"],
      ["booking.cancelled", "Cancelled; seats released"],
      ["refund.pending", expect.stringContaining("Refund of USD 30.00 (90 %) pending")],
    ]);
  });

  test("of a hold lowers its price, and refunds nothing", async () => {
    const flightId = await flightIn(100);
    const { id, reference } = await booked(flightId, 2, { hold: true });
    const offered = await jsonWith(await offerPart(id, [1]), 201);
    expect(offered).toMatchObject({ newTotal: 100, penalty: 0, changeTotal: 0 });
    await jsonWith(await confirm(id, offered["id"]), 200);
    await expectHolds(app);
    expect(
      await pay("payment_intent.succeeded", { booking: reference, amount: 10_000 }),
    ).toMatchObject({ effect: `confirmed ${id}` });
    expect(await json(await get(id))).toMatchObject({
      status: "confirmed",
      totalPrice: 100,
      seats: 1,
    });
  });

  test.each([
    ["no positions", [], 422],
    ["a position twice", [1, 1], 422],
    ["a position that does not exist", [3], 422],
    ["a text", "1", 400],
  ])("rejects %s", async (_, passengers, status) => {
    const { id } = await booked(await flightIn(100), 2);
    const response = await offerPart(id, passengers);
    expect(await jsonWith(response, status)).toMatchObject({
      errors: [{ pointer: expect.any(String) }],
    });
  });

  test("repeats the original response of a booking that was made with a key", async () => {
    const flightId = await flightIn(100);
    const book = async () => {
      const request = post(bookingBody(flightId, 2), { "idempotency-key": "part" });
      return (await app.as("user", bookingsPath, request, "ada")).text();
    };
    const made = await book();
    const { bookingId: id }: { readonly bookingId: string } = JSON.parse(made);
    const offered = await json(await offerPart(id, [2]));
    await confirm(id, offered["id"]);
    expect(await book()).toBe(made);
  });
});

describe("a change to another flight", () => {
  // Hours before departure, new price, what is kept, what is to be paid.
  test.each([
    ["within the free hours", 24 * 8, 12_000, 0, 40],
    ["at the same price", 100, 10_000, 10, 10],
    ["to a dearer flight", 100, 15_000, 10, 110],
    ["to a cheaper flight", 100, 5_000, 10, -90],
    ["to a much cheaper flight, refunds what a cancellation would", 48, 1_000, 80, -100],
    ["to a cheap flight when nothing is refunded", 10, 1_000, 180, 0],
  ])("%s", async (_, hours, price, penalty, changeTotal) => {
    const from = await flightIn(hours);
    const to = await flightIn(hours + 24, price);
    const { id, reference } = await booked(from, 2);
    app.clock.advance(60_000);
    const offered = await jsonWith(await offerFlight(id, to), 201);
    expect(offered).toMatchObject({
      kind: "flight",
      status: "offered",
      passengers: [1, 2],
      flight: { id: from },
      newFlight: { id: to },
      previousTotal: 200,
      newTotal: (price * 2) / 100,
      penalty,
      changeTotal,
    });
    expect([await seatsLeft(app, from), await seatsLeft(app, to)]).toEqual([8, 8]);
    const change = await jsonWith(await confirm(id, offered["id"]), 200);
    if (changeTotal > 0) {
      expect(change).toMatchObject({ status: "pending", confirmedAt: null });
      expect(await json(await get(id))).toMatchObject({ flight: { id: from }, totalPrice: 200 });
      expect(await jsonWith(await offerPart(id, [1]), 409)).toMatchObject({
        code: "change-pending",
      });
      const wrong = await pay("payment_intent.succeeded", { booking: reference, amount: 1 });
      expect(wrong["effect"]).toContain("but the change of");
      const paid = { booking: reference, amount: changeTotal * 100, payment: `pi_change_${id}` };
      expect(await pay("payment_intent.succeeded", paid)).toMatchObject({
        effect: `changed ${id}`,
      });
    }
    expect([await seatsLeft(app, from), await seatsLeft(app, to)]).toEqual([10, 8]);
    const read = await json(await get(id));
    expect(read).toMatchObject({
      status: "confirmed",
      flight: { id: to },
      totalPrice: (price * 2) / 100,
      changes: [{ status: "confirmed", confirmedAt: expect.any(String) }],
      refund: changeTotal < 0 ? { amount: -changeTotal, status: "pending" } : null,
      payments: changeTotal > 0 ? [{ status: "mismatch" }, { status: "changed" }] : [],
    });
    const changed = (await eventsOf(id)).filter(({ type }) => type === "booking.changed");
    expect(changed).toMatchObject([
      { data: { previousFlightId: from, flightId: to, previousTotal: 200, penalty, changeTotal } },
    ]);
    expect(Object(changed[0]?.["data"]).refundDue).toBe(changeTotal < 0 ? -changeTotal : undefined);
    expect((await eventsOf(id)).map(({ type }) => type)).not.toContain("booking.cancelled");
  });

  test("never lets more be refunded later than before it", async () => {
    const { id } = await booked(await flightIn(10), 1);
    const change = await json(await offerFlight(id, await flightIn(24 * 30, 5_000)));
    await jsonWith(await confirm(id, change["id"]), 200);
    expect(await json(await cancel(id))).toMatchObject({ refund: { amount: 0, status: "none" } });
  });

  test("gives back what it held when it ends, is withdrawn or replaced, or the booking is cancelled", async () => {
    const from = await flightIn(100);
    const to = await flightIn(200);
    const other = await flightIn(300);
    const { id } = await booked(from, 2);
    const first = await json(await offerFlight(id, to));
    expect(await seatsLeft(app, to)).toBe(8);
    const second = await json(await offerFlight(id, other));
    expect([await seatsLeft(app, to), await seatsLeft(app, other)]).toEqual([10, 8]);
    expect(await jsonWith(await confirm(id, first["id"]), 409)).toMatchObject({
      code: "offer-ended",
    });
    expect(await jsonWith(await withdraw(id, second["id"]), 200)).toMatchObject({
      status: "withdrawn",
    });
    expect(await seatsLeft(app, other)).toBe(10);
    const third = await json(await offerFlight(id, to));
    await confirm(id, third["id"]);
    app.clock.advance(holdMs);
    await untilLater(app, async () => (await seatsLeft(app, to)) === 10, 100);
    expect(await json(await call(`${id}/changes/${String(third["id"])}`))).toMatchObject({
      status: third["changeTotal"] === 0 ? "confirmed" : "expired",
    });
    const fourth = await json(await offerFlight(id, other));
    expect(await seatsLeft(app, other)).toBe(8);
    await jsonWith(await cancel(id), 200);
    expect([await seatsLeft(app, from), await seatsLeft(app, other)]).toEqual([10, 10]);
    expect(await jsonWith(await confirm(id, fourth["id"]), 409)).toMatchObject({
      code: "offer-ended",
    });
  });

  test("is rejected where it cannot be made", async () => {
    const from = await flightIn(100);
    const { id } = await booked(from, 2);
    const held = await booked(from, 1, { hold: true });
    const [full, euros, gone] = [
      await flightIn(100, 1, { seats: 1 }),
      await flightIn(100, 1, { currency: "EUR" }),
      await flightIn(0.5, 1),
    ];
    const to = await flightIn(120);
    for (const [response, code] of [
      [await offerFlight(id, from), "validation-failed"],
      [await offerFlight(id, euros), "validation-failed"],
      [await offerFlight(id, full), "no-seats"],
      [await offerFlight(id, gone), "booking-closed"],
      [await offerFlight(id, 999_999), "flight-not-found"],
      [await offerFlight(id, "1"), "invalid-body"],
      [await offerFlight(held.id, to), "booking-closed"],
      [await offerFlight(id, to, "eve"), "booking-not-found"],
      [await confirm(id, "chg_1"), "not-found"],
      [await confirm(id, "x"), "not-found"],
    ] as const) {
      expect(await json(response)).toMatchObject({ code });
    }
  });

  test("and a cancellation of all are refused for a part", async () => {
    const [from, to] = [await flightIn(100), await flightIn(120)];
    const { id } = await booked(from, 2);
    const { id: change } = await json(await offerPart(id, [2]));
    const part = post({ flightId: to, passengers: [2] });
    for (const [path, init] of [
      [`${id}/changes`, part],
      [`${id}/changes/${String(change)}/confirm`, part],
      [id, { ...part, method: "DELETE" }],
      [id, { method: "DELETE", body: '{"seats":1}' }],
    ] as const) {
      expect(await jsonWith(await call(path, init), 422)).toMatchObject({
        errors: [{ pointer: expect.stringMatching(/passengers|seats/) }],
      });
    }
    expect(await json(await get(id))).toMatchObject({ status: "confirmed", flight: { id: from } });
    const whole = post({ flightId: to, passengers: null });
    await jsonWith(await call(`${id}/changes`, whole), 201);
    await jsonWith(await call(id, { ...post({}), method: "DELETE" }), 200);
    const refund = await app.as("admin", `${bookingsPath}/${id}/refund`, part);
    expect(await jsonWith(refund, 422)).toMatchObject({ code: "validation-failed" });
  });

  test("names the cabin where only that changes, and has an address", async () => {
    const plan = { flightNumber: "CH900", departureTime: new Date(app.clock.now() + 100 * hourMs) };
    const [from, to] = [
      await flightIn(1, 1, plan),
      await flightIn(1, 1, { ...plan, cabinClass: "first" }),
    ];
    const { id } = await booked(from, 1);
    const response = await offerFlight(id, to);
    const location = String(response.headers.get("location"));
    const offered = await jsonWith(response, 201);
    expect(location).toBe(`${bookingsPath}/${id}/changes/${String(offered["id"])}`);
    expect(await json(await app.as("user", location, {}, "ada"))).toEqual(offered);
    expect(await jsonWith(await app.as("user", location, {}, "eve"), 404)).toMatchObject({
      code: "booking-not-found",
    });
    await confirm(id, offered["id"]);
    await pay("payment_intent.succeeded", {
      booking: id,
      amount: Number(offered["changeTotal"]) * 100,
    });
    const titles = (await historyOf(id)).map(([, title]) => title);
    expect(titles.join()).toMatch(/CH900 of [-\d]+, economy → CH900 of [-\d]+, first/);
  });

  test("of several confirmations at once is made once", async () => {
    const [from, to] = [await flightIn(100), await flightIn(200)];
    const { id } = await booked(from, 2);
    app.clock.advance(60_000);
    const { id: change } = await json(await offerFlight(id, await flightIn(200, 5_000)));
    const [, , , cancelled] = await Promise.all([
      confirm(id, change),
      confirm(id, change),
      offerFlight(id, to),
      cancel(id),
    ]);
    expect(cancelled.status).toBe(200);
    expect([await seatsLeft(app, from), await seatsLeft(app, to)]).toEqual([10, 10]);
    const { refund } = await json(await get(id));
    expect(refund).toMatchObject({ status: "pending" });
  });

  test("refunds each payment on its own, and no more than was paid", async () => {
    const [from, to] = [await flightIn(24 * 9), await flightIn(24 * 10, 15_000)];
    const { id, reference } = await booked(from, 1, { hold: true });
    const pays = (amount: number, payment: string) =>
      pay("payment_intent.succeeded", { booking: reference, amount, payment });
    const refunds = (amount: number, payment: string) =>
      pay("charge.refunded", { booking: reference, amount, payment });
    await pays(10_000, `pi_1_${id}`);
    const offered = await json(await offerFlight(id, to));
    expect(offered).toMatchObject({ changeTotal: 50, penalty: 0 });
    await confirm(id, offered["id"]);
    await pays(5_000, `pi_2_${id}`);
    expect(await json(await cancel(id))).toMatchObject({ refund: { amount: 150, percent: 100 } });
    expect((await refunds(10_000, `pi_1_${id}`))["effect"]).toContain("refunded USD 100.00");
    expect(await json(await get(id))).toMatchObject({
      refund: { refunded: 100, status: "partial" },
    });
    expect((await refunds(6_000, `pi_2_${id}`))["effect"]).toContain("no effect");
    expect((await refunds(5_000, `pi_2_${id}`))["effect"]).toContain("refunded USD 50.00");
    expect(await json(await get(id))).toMatchObject({
      refund: { amount: 150, refunded: 150, status: "succeeded" },
    });
  });

  test("works in GraphQL too", async () => {
    const [from, to] = [await flightIn(24 * 9), await flightIn(24 * 10, 5_000)];
    const { id } = await booked(from, 2);
    const offered = await dataOf(
      app,
      "admin",
      `mutation { offerChange(bookingId: "${id}", flightId: ${to}) { id changeTotal status newFlight { flightId } } }`,
    );
    expect(offered).toMatchObject({
      offerChange: { changeTotal: -100, status: "offered", newFlight: { flightId: to } },
    });
  });
});

describe("correcting a passenger", () => {
  const correct = (id: string, position: unknown, body: unknown, who?: string) =>
    call(`${id}/passengers/${String(position)}`, { ...post(body), method: "PATCH" }, who);

  test("changes only the given fields, and the audit log names them without values", async () => {
    const { id } = await booked(await flightIn(100), 2);
    const body = { lastName: " Byron ", passportNumber: "ab-12 345" };
    expect(await jsonWith(await correct(id, 2, body), 200)).toMatchObject({
      firstName: "Ada",
      lastName: "Byron",
      passportNumber: "*****45",
    });
    expect(await json(await get(id))).toMatchObject({
      passengers: [{ lastName: "Lovelace" }, { lastName: "Byron", passportNumber: "*****45" }],
    });
    const audit = await json(await app.as("admin", "/v1/audit?action=booking.corrected&limit=1"));
    expect(audit["data"]).toMatchObject([
      { subject: id, detail: "passenger 2: lastName, passportNumber" },
    ]);
    const event = (await eventsAbout(app, `booking/${id}`)).at(-1);
    expect(event).toMatchObject({
      type: "booking.corrected",
      data: { passenger: 2, corrected: "last name, passport number" },
    });
    expect(String(event?.["title"])).toEndWith(
      "corrected: last name, passport number of passenger 2",
    );
    expect(JSON.stringify(event)).not.toMatch(/byron|lovelace|12345/i);
    const { history } = await json(await app.as("admin", `/v1/api/bookings/${id}`));
    expect(Object(history).at(-1)).toMatchObject({
      type: "booking.corrected",
      title: "Corrected: last name, passport number of passenger 2",
      eventId: event?.["id"],
    });
  });

  test("keeps both of two corrections at the same time", async () => {
    const { id } = await booked(await flightIn(100), 1);
    const bodies = [{ lastName: "Byron" }, { passportNumber: "AB12345" }];
    const corrected = await Promise.all(bodies.map((body) => correct(id, 1, body)));
    expect(corrected.map(({ status }) => status)).toEqual([200, 200]);
    expect(await json(await get(id))).toMatchObject({
      passengers: [{ lastName: "Byron", passportNumber: "*****45" }],
    });
  });

  test("is rejected for a stranger, a wrong value, another's passport and too many times", async () => {
    const { id } = await booked(await flightIn(100), 2);
    for (const [position, body, code, who] of [
      [1, { lastName: "X" }, "booking-not-found", "eve"],
      [3, { lastName: "X" }, "not-found"],
      ["a", { lastName: "X" }, "not-found"],
      [1, { lastName: "" }, "validation-failed"],
      [1, { lastName: 1 }, "invalid-body"],
      [1, { dateOfBirth: "2999-01-01" }, "validation-failed"],
      [1, { passportNumber: passenger(2).passportNumber }, "validation-failed"],
    ] as const) {
      expect(await json(await correct(id, position, body, who))).toMatchObject({ code });
    }
    for (const name of ["A", "B", "C", "D", "E"]) {
      await jsonWith(await correct(id, 1, { lastName: name }), 200);
    }
    await jsonWith(await correct(id, 1, { lastName: "F" }), 422);
  });
});
