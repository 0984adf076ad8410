import { equal } from "node:assert/strict";

import fc from "fast-check";

import type { Flight } from "../../../../src/booking/model/flight.ts";
import { later } from "../../../support/flight-changes.ts";
import { bookingBody } from "../../../support/flights.ts";
import { bookingsPath } from "../../harness/requests.ts";
import { pick } from "../model.ts";
import { minuteMs } from "../rules.ts";
import { weighted } from "../sequences.ts";

import { confirm, offerFlight, offerPart, race, rush, withdraw } from "./change-steps.ts";
import { isLive, isOpen } from "./content.ts";
import { fail, pay, payAndCancel, payOften, refund } from "./payment-steps.ts";
import { cancels, flightOf, hasLeft, sale } from "./rules.ts";
import { at, seats, step, which } from "./world.ts";

const ownerOf = (index: number) => `owner-${index % 3}`;
const mostBookings = 12;

const book = step(
  "book",
  fc.record({ at, which, seats, isHold: fc.constantFrom(true, true, false) }),
  async (world, { flights, bookings, offers, ...others }, input) => {
    const flight = pick(flights, input.which);
    if (flight === undefined || bookings.length >= mostBookings) return;
    const [owner, { isHold }] = [ownerOf(input.which), input];
    const asked = { owner, flight, seats: input.seats, isHold };
    const content = { flights, bookings, offers, ...others };
    const body = { ...bookingBody(flight.id, input.seats), ...(isHold && { hold: true }) };
    const { status } = await world.ask(input.at, owner, "POST", bookingsPath, body);
    equal(status, sale(content, asked, world.clock.now()));
    world.count(`${isHold ? "hold" : "book"}: ${status}`);
  },
);

const cancel = step("cancel", fc.record({ at, which }), async (world, expected, input) => {
  const booking = pick(expected.bookings, input.which);
  if (booking === undefined) return;
  const isGone = hasLeft(flightOf(expected, booking.flight), world.clock.now());
  const isRefused = booking.status === "expired" || (isLive(booking) && isGone);
  const { status } = await world.ofBooking(input.at, booking, "DELETE", "");
  equal(status, isRefused ? (isGone ? 400 : 422) : 200);
  if (isRefused || !isLive(booking)) return;
  world.count(`cancel: ${booking.status}`);
  cancels(expected, booking, world.clock.now());
});

/** The airline moves or cancels a flight, and offers from and to it end. */
const airline = step(
  "airline",
  fc.record({ at, which, cancels: fc.constantFrom(false, false, true) }),
  async (world, { flights }, input) => {
    const flight = pick(flights, input.which);
    if (flight === undefined || flight.cancelled !== null || flight.departs <= world.clock.now())
      return;
    await world.import(input.at, flight.id, (read) =>
      input.cancels ? "cancelled" : later(read as Flight, 5),
    );
    const { offers } = await world.settled();
    const open = offers.filter((one) => one.flight === flight.id || one.to === flight.id);
    equal(open.filter(isOpen).length, 0);
    world.count(input.cancels ? "flight cancelled" : "flight moved");
  },
);

const minutes = fc.constantFrom(1, 9, 20, 21, 31, 18 * 60, 25 * 60, 26 * 24 * 60);
const wait = step("wait", fc.record({ minutes }), async (world, _, input) => {
  world.clock.advance(input.minutes * minuteMs);
});

const jumps = fc.record({ by: fc.constantFrom(-30, -1, 5, 25) });
const jump = step("jump", jumps, async (world, _, { by }) => world.clock.jump(by * minuteMs));

const restart = step("restart", fc.record({ at }), (world, _, input) => world.restart(input.at));

export const steps = weighted([
  [9, book],
  [4, offerPart],
  [8, offerFlight],
  [9, confirm],
  [2, withdraw],
  [2, cancel],
  [10, pay],
  [2, payOften],
  [1, fail],
  [7, refund],
  [3, payAndCancel],
  [3, race],
  [1, rush],
  [1, airline],
  [3, wait],
  [1, jump],
  [1, restart],
]);
