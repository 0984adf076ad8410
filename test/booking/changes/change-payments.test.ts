import { afterEach, describe, expect, test } from "bun:test";

import { flightById } from "../../../src/booking/flights/flights.sql.ts";
import type { Flight } from "../../../src/booking/model/flight.ts";
import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, changeCalls, flightBookings } from "../../support/bookings.ts";
import { changeFlight, type FlightImport } from "../../support/flight-changes.ts";
import { seatsLeft } from "../../support/flights.ts";
import { expectHolds } from "../../support/holds.ts";
import { paymentsOf } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const hourMs = 3_600_000;
const app = appForAll();
afterEach(() => expectHolds(app));
const { get, cancel } = bookingCalls(app);
const { event: pay } = paymentsOf(app, "RA");
const { offerPart, offerFlight, confirm, withdraw } = changeCalls(app);
const { flightIn, booked } = flightBookings(app, "RA");

const paid = (booking: string, amount: number, payment: string) =>
  pay("payment_intent.succeeded", { booking, amount, payment });

async function airline(flightId: number, change: (flight: Flight) => FlightImport) {
  const [flight] = await app.services.storage.all(flightById, { id: flightId });
  if (flight === undefined) throw new Error("No flight has this id");
  await changeFlight(app, flight, change(flight));
}

const offered = async (answer: Promise<Response>) => jsonWith(await answer, 201);

/** A change of a booking that waits for its payment, and the amount in cents. */
async function pendingChange(from: number, to: number, extra: object = {}) {
  const booking = await booked(from, 1, extra);
  if ("hold" in extra) await paid(booking.reference, 10_000, `pi_of_${booking.id}`);
  const change = await offered(offerFlight(booking.id, to));
  app.clock.advance(60_000);
  expect(await jsonWith(await confirm(booking.id, change["id"]), 200)).toMatchObject({
    status: "pending",
  });
  // Its seats are held from the confirmation on.
  await expectHolds(app);
  return { ...booking, change, amount: Math.round(Number(change["changeTotal"]) * 100) };
}

describe("the payment of a change", () => {
  test.each([
    ["surplus", "withdrawn", "was paid before"],
    ["unseated", "cancelled", "is cancelled"],
  ])("is %s if the change was %s, also of a booking without a hold", async (status, how, why) => {
    const to = await flightIn(120, 20_000);
    const { id, reference, change, amount } = await pendingChange(await flightIn(100), to);
    await (how === "cancelled" ? cancel(id) : withdraw(id, change["id"]));
    // The payment of the price itself, which no event was expected about.
    expect((await paid(reference, 10_000, `pi_own_${id}`))["effect"]).toContain(
      "without a payment",
    );
    expect((await paid(reference, amount, `pi_${id}`))["effect"]).toContain(why);
    expect(await json(await get(id))).toMatchObject({ payments: [{ status }] });
    expect(await seatsLeft(app, to)).toBe(10);
  });

  test.each([{}, { hold: true }])("does not count if it was refunded: %p", async (extra) => {
    const [from, to] = [await flightIn(24 * 9), await flightIn(24 * 10, 18_000)];
    const { id, reference, amount } = await pendingChange(from, to, extra);
    const payment = `pi_${id}`;
    await pay("charge.refunded", { booking: reference, amount, payment });
    expect((await paid(reference, amount, payment))["effect"]).toContain("was refunded before");
    const partly = { booking: reference, amount: 1, payment: `pi_partly_${id}` };
    await pay("charge.refunded", partly);
    expect((await paid(reference, amount, partly.payment))["effect"]).toContain(
      "and USD 0.01 refunded, but the change",
    );
    expect(await json(await get(id))).toMatchObject({ flight: { id: from } });
    expect((await paid(reference, amount, `pi_other_${id}`))["effect"]).toBe(`changed ${id}`);
  });

  test("is not one that was reported as a surplus before", async () => {
    const [from, to] = [await flightIn(24 * 9), await flightIn(24 * 10, 20_000)];
    const { id, reference } = await booked(from, 1, { hold: true });
    await paid(reference, 10_000, `pi_1_${id}`);
    const again = () => paid(reference, 10_000, `pi_2_${id}`);
    expect((await again())["effect"]).toContain("was paid before");
    const change = await offered(offerFlight(id, to));
    expect(change).toMatchObject({ changeTotal: 100 });
    await confirm(id, change["id"]);
    expect((await again())["effect"]).toContain("reported before (surplus)");
    expect((await paid(reference, 10_000, `pi_3_${id}`))["effect"]).toBe(`changed ${id}`);
  });

  test("of more than 2^31 cents is added up exactly", async () => {
    const [from, to] = [await flightIn(24 * 9, 3e11), await flightIn(24 * 10, 7e11)];
    const { id, reference } = await booked(from, 3);
    const change = await offered(offerFlight(id, to));
    await confirm(id, change["id"]);
    expect((await paid(reference, 12e11, `pi_${id}`))["effect"]).toBe(`changed ${id}`);
    const part = await offered(offerPart(id, [2]));
    await jsonWith(await confirm(id, part["id"]), 200);
    expect(await jsonWith(await cancel(id), 200)).toMatchObject({ refund: { amount: 14e9 } });
    expect(await json(await get(id))).toMatchObject({ refund: { amount: 21e9 } });
  });
});

test("a change to a flight that the airline has cancelled is not made", async () => {
  const [from, to] = [await flightIn(24 * 9), await flightIn(24 * 10, 5_000)];
  const { id } = await booked(from, 1);
  const change = await offered(offerFlight(id, to));
  await airline(to, () => "cancelled");
  expect(await jsonWith(await confirm(id, change["id"]), 409)).toMatchObject({
    code: "offer-ended",
  });
  const dearer = await flightIn(24 * 10, 15_000);
  const pending = await pendingChange(from, dearer);
  await airline(dearer, () => "cancelled");
  const { effect } = await paid(pending.reference, pending.amount, `pi_${pending.id}`);
  expect(effect).toContain("was paid before");
  expect(await json(await get(pending.id))).toMatchObject({
    flight: { id: from },
    payments: [{ status: "surplus" }],
  });
});

test("who leaves a cancelled flight can do so after its departure", async () => {
  const from = await flightIn(2);
  const { id } = await booked(from, 1);
  await airline(from, () => "cancelled");
  app.clock.advance(3 * hourMs);
  const change = await offered(offerFlight(id, await flightIn(24, 9_000)));
  expect(change).toMatchObject({ changeTotal: -10 });
  expect(await jsonWith(await confirm(id, change["id"]), 200)).toMatchObject({
    status: "confirmed",
  });
});
