import { equal } from "node:assert/strict";

import fc from "fast-check";

import type { Flight } from "../../../../src/booking/model/flight.ts";
import { later } from "../../../support/flight-changes.ts";
import { bookingBody } from "../../../support/flights.ts";
import { minuteMs } from "../rules.ts";

import { confirm, offerFlight, offerPart, race, rush, withdraw } from "./change-steps.ts";
import { cancelled, flightOf, hasLeft, hasOpenOffer, paidFor, refundOf, sale } from "./rules.ts";
import { at, nothing, payment, pick, seats, type Step, step, which } from "./step.ts";
import { isOpen } from "./store.ts";

const ownerOf = (index: number) => `owner-${index % 3}`;
const mostBookings = 12;

const book = step(
  "book",
  fc.record({ at, which, seats, isHold: fc.boolean() }),
  async (world, { at: instance, which: index, seats: count, isHold }) => {
    const { flights, bookings } = world.before;
    const flight = pick(flights, index);
    if (flight === undefined || bookings.length >= mostBookings) return nothing;
    const owner = ownerOf(index);
    const expected = sale(world.before, { owner, flight, seats: count, isHold }, world.clock.now());
    const body = { ...bookingBody(flight.id, count), ...(isHold && { hold: true }) };
    const { status } = await world.send(instance, owner, "POST", "/v1/api/bookings", body);
    equal(status, expected);
    world.count(`book: ${status}`);
    return nothing;
  },
);

const cancel = step("cancel", fc.record({ at, which }), async (world, input) => {
  const booking = pick(world.before.bookings, input.which);
  if (booking === undefined) return nothing;
  const isGone = hasLeft(flightOf(world.before, booking.flight), world.clock.now());
  const isLive = booking.status === "held" || booking.status === "confirmed";
  const isRefused = booking.status === "expired" || (isLive && isGone);
  const { status } = await world.ofBooking(input.at, booking, "DELETE", "");
  equal(status, isRefused ? (isGone ? 400 : 422) : 200);
  if (isRefused || !isLive) return nothing;
  world.count(`cancel: ${booking.status}`);
  const refund = refundOf(world.before, booking, booking.total, world.clock.now());
  return { id: booking.id, fields: cancelled(booking, refund) };
});

const pay = step(
  "pay",
  fc.record({ at, which, wrong: fc.constantFrom(0, 0, 0, 0, 1) }),
  async (world, input) => {
    const { bookings } = world.before;
    // Above all what waits for a payment.
    const pending = bookings.filter((one) => hasOpenOffer(world.before, one)?.status === "pending");
    const held = bookings.filter(({ status }) => status === "held");
    const [first = bookings] = [pending, held].filter(({ length }) => length > 0);
    const booking = pick(input.which % 4 > 0 ? first : bookings, input.which);
    if (booking === undefined) return nothing;
    const open = hasOpenOffer(world.before, booking);
    const price = open?.status === "pending" ? open.change : booking.total;
    const minor = price + input.wrong;
    await world.pay(input.at, "payment_intent.succeeded", payment(world, booking, minor));
    const fields = paidFor(world.before, booking, minor, world.clock.now());
    world.count(
      `pay ${open?.status === "pending" ? "a change" : booking.status}: ${fields.status ?? "nothing"}`,
    );
    return { id: booking.id, fields };
  },
);

const refund = step(
  "refund",
  fc.record({ at, which, percent: fc.constantFrom(30, 90, 100, 110) }),
  async (world, input) => {
    const paid = pick(world.payments, input.which);
    if (paid === undefined) return nothing;
    const amount = Math.floor((paid.minor * input.percent) / 100);
    const object = {
      payment_intent: paid.id,
      amount_refunded: amount,
      currency: "usd",
      metadata: {},
    };
    await world.pay(input.at, "charge.refunded", object);
    world.count("refund");
    return nothing;
  },
);

/** The airline moves or cancels a flight, and offers from and to it end. */
const airline = step(
  "airline",
  fc.record({ at, which, cancels: fc.constantFrom(false, false, true) }),
  async (world, input) => {
    const flight = pick(world.before.flights, input.which);
    if (flight === undefined || flight.cancelled !== null || flight.departs <= world.clock.now())
      return nothing;
    await world.import(input.at, flight.id, (read) =>
      input.cancels ? "cancelled" : later(read as Flight, 5),
    );
    const { offers } = await world.settled();
    const open = offers.filter((one) => one.flight === flight.id || one.to === flight.id);
    equal(open.filter(isOpen).length, 0);
    world.count(input.cancels ? "flight cancelled" : "flight moved");
    return nothing;
  },
);

const minutes = fc.constantFrom(1, 9, 20, 21, 31, 18 * 60, 25 * 60, 26 * 24 * 60);
const wait = step("wait", fc.record({ minutes }), async (world, input) => {
  world.clock.advance(input.minutes * minuteMs);
  return nothing;
});

const jump = step(
  "jump",
  fc.record({ by: fc.constantFrom(-30, -1, 5, 25) }),
  async (world, { by }) => {
    world.clock.jump(by * minuteMs);
    return nothing;
  },
);

const restart = step("restart", fc.record({ at }), async (world, input) => {
  await world.restart(input.at);
  return nothing;
});

const weights: readonly (readonly [number, fc.Arbitrary<Step>])[] = [
  [9, book],
  [4, offerPart],
  [9, offerFlight],
  [9, confirm],
  [2, withdraw],
  [2, cancel],
  [8, pay],
  [3, refund],
  [3, race],
  [1, rush],
  [1, airline],
  [3, wait],
  [1, jump],
  [1, restart],
];

export const anyLives = (most: number) =>
  fc.commands(
    weights.flatMap(([weight, arbitrary]) => Array.from({ length: weight }, () => arbitrary)),
    { maxCommands: most, size: "max", disableReplayLog: true },
  );
