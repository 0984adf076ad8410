import { deepEqual, equal } from "node:assert/strict";

import fc from "fast-check";

import type { Flight } from "../../../../src/booking/model/flight.ts";
import { later } from "../../../support/flight-changes.ts";
import { pick } from "../model.ts";

import { type BookingRow, type Content, isOpen, type OfferRow } from "./content.ts";
import { changed, flightOffer, partOffer } from "./rules.ts";
import { at, seats, step, which } from "./world.ts";

function equalTerms(
  answer: Readonly<Record<string, unknown>>,
  { total, change }: { readonly total: number; readonly change: number },
): void {
  const shown = [answer["newTotal"], answer["changeTotal"]].map((major) =>
    Math.round(Number(major) * 100),
  );
  deepEqual(shown, [total, 0 + change]);
}

const signOf = (change: number) => ["refund", "even", "payment"][Math.sign(change) + 1];

export const offerPart = step(
  "offer part",
  fc.record({ at, which, seats }),
  async (world, expected, input) => {
    const booking = pick(expected.bookings, input.which);
    if (booking === undefined) return;
    const shown = await world.ofBooking(input.at, booking, "GET", "");
    // Guarantee: the schema of the API.
    const passengers = shown.answer["passengers"] as readonly object[];
    const flying = [...passengers.keys()].filter(
      (index) => !("cancelledAt" in (passengers[index] ?? {})),
    );
    const positions = flying.slice(-input.seats).map((index) => index + 1);
    if (positions.length === 0) return;
    const terms = partOffer(expected, booking, positions.length, world.clock.now());
    const body = { passengers: positions };
    const { status, answer } = await world.ofBooking(
      input.at,
      booking,
      "POST",
      "/cancellation",
      body,
    );
    equal(status, terms.status, JSON.stringify(answer));
    if (status === 201) equalTerms(answer, terms);
    world.count(`offer part: ${status}`);
  },
);

export const offerFlight = step(
  "offer flight",
  fc.record({ at, which, to: which }),
  async (world, expected, input) => {
    const booking = pick(expected.bookings, input.which);
    const { flights } = expected;
    const others = flights.filter(
      ({ id, free }) => id !== booking?.flight && free >= (booking?.seats ?? 0),
    );
    const to = pick(others.length > 0 && input.to % 4 > 0 ? others : flights, input.to);
    if (booking === undefined || to === undefined) return;
    const terms = flightOffer(expected, booking, to, world.clock.now());
    const body = { flightId: to.id };
    const { status, answer } = await world.ofBooking(input.at, booking, "POST", "/changes", body);
    equal(status, terms.status, JSON.stringify(answer));
    if (status === 201) equalTerms(answer, terms);
    world.count(status === 201 ? `offer flight: ${signOf(terms.change)}` : "offer flight refused");
  },
);

const bookingOf = ({ bookings }: Content, offer: OfferRow | undefined) =>
  bookings.find(({ id }) => id === offer?.booking);

/** Above all an open one. */
function someOffer({ offers }: Content, index: number): OfferRow | undefined {
  const open = offers.filter(isOpen);
  return pick(open.length > 0 && index % 4 > 0 ? open : offers, index);
}

export const confirm = step("confirm", fc.record({ at, which }), async (world, expected, input) => {
  const offer = someOffer(expected, input.which);
  const booking = bookingOf(expected, offer);
  if (offer === undefined || booking === undefined) return;
  const { status } = await world.ofBooking(
    input.at,
    booking,
    "POST",
    `/changes/${offer.id}/confirm`,
  );
  const isCurrent = offer.status === "offered" && offer.revision === booking.revision;
  const isDone = offer.status === "confirmed" || offer.status === "pending";
  equal(status, isCurrent || isDone ? 200 : 409);
  world.count(`confirm ${offer.kind} ${isCurrent ? signOf(offer.change) : offer.status}`);
  if (isCurrent && offer.change <= 0) Object.assign(booking, changed(booking, offer, 0));
});

export const withdraw = step(
  "withdraw",
  fc.record({ at, which }),
  async (world, expected, input) => {
    const offer = someOffer(expected, input.which);
    const booking = bookingOf(expected, offer);
    if (offer === undefined || booking === undefined) return;
    const { status } = await world.ofBooking(input.at, booking, "DELETE", `/changes/${offer.id}`);
    equal(status, offer.status === "confirmed" ? 409 : 200);
    world.count(`withdraw: ${offer.status}`);
  },
);

/** Requests about one booking at once, of which any may come first. */
export const race = step(
  "race",
  fc.record({ at, which, kinds: fc.nat({ max: 3 }) }),
  async (world, expected, input) => {
    const offer = pick(
      expected.offers.filter(({ status }) => status === "offered" || status === "pending"),
      input.which,
    );
    const booking = bookingOf(expected, offer);
    if (offer === undefined || booking === undefined) return;
    const path = `/changes/${offer.id}`;
    const minor = offer.status === "pending" ? offer.change : booking.total;
    const notice = { reference: `pi_of_${offer.id}`, minor, currency: "usd" };
    const rivals = [
      () => world.ofBooking(input.at, booking, "DELETE", ""),
      () => world.ofBooking(input.at, booking, "DELETE", path),
      () => world.deliver(input.at, world.event("payment_intent.succeeded", booking, notice)),
      () =>
        world.import(input.at, offer.to ?? offer.flight, (flight) => later(flight as Flight, 1)),
    ];
    await Promise.all([
      world.ofBooking(input.at + 1, booking, "POST", `${path}/confirm`),
      rivals[input.kinds]?.(),
      world.ofBooking(input.at, booking, "POST", `${path}/confirm`),
    ]);
    world.count(`race ${input.kinds}`);
    return "anything";
  },
);

/** Each booking is changed at every instance at once, in opposite orders. Anything may come of it, but no error. */
export const rush = step("rush", fc.record({ to: which }), async (world, expected, input) => {
  const { bookings, flights } = expected;
  const change = async (instance: number, booking: BookingRow, index: number) => {
    const call = (method: string, rest: string, body?: object) =>
      world.ofBooking(instance, booking, method, rest, body);
    if (index % 3 === 0) return call("PATCH", "/passengers/1", { lastName: `N${"ab"[instance]}` });
    const { answer } = await (index % 3 === 1
      ? call("POST", "/cancellation", { passengers: [1] })
      : call("POST", "/changes", { flightId: pick(flights, input.to + index)?.id }));
    const path = `/changes/${String(answer["id"])}`;
    const confirm = () => call("POST", `${path}/confirm`);
    return Promise.all([confirm(), confirm(), call("DELETE", path)]);
  };
  const here = bookings.map((booking, index) => change(0, booking, index));
  const there = bookings.toReversed().map((booking, index) => change(1, booking, index));
  await Promise.all([...here, ...there]);
  world.count("rush");
  return "anything";
});
