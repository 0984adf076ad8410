import { deepEqual, equal } from "node:assert/strict";

import fc from "fast-check";

import type { Flight } from "../../../../src/booking/model/flight.ts";
import { later } from "../../../support/flight-changes.ts";

import { changed, flightOffer, partOffer } from "./rules.ts";
import { at, nothing, payment, pick, seats, step, which } from "./step.ts";
import { type BookingRow, isOpen, type OfferRow } from "./store.ts";
import type { World } from "./world.ts";

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
  async (world, input) => {
    const booking = pick(world.before.bookings, input.which);
    if (booking === undefined) return nothing;
    const shown = await world.ofBooking(input.at, booking, "GET", "");
    // Guarantee: the schema of the API.
    const passengers = shown.answer["passengers"] as readonly object[];
    const flying = [...passengers.keys()].filter(
      (index) => !("cancelledAt" in (passengers[index] ?? {})),
    );
    const positions = flying.slice(-input.seats).map((index) => index + 1);
    if (positions.length === 0) return nothing;
    const expected = partOffer(world.before, booking, positions.length, world.clock.now());
    const body = { passengers: positions };
    const { status, answer } = await world.ofBooking(
      input.at,
      booking,
      "POST",
      "/cancellation",
      body,
    );
    equal(status, expected.status, JSON.stringify(answer));
    if (status === 201) equalTerms(answer, expected);
    world.count(`offer part: ${status}`);
    return nothing;
  },
);

export const offerFlight = step(
  "offer flight",
  fc.record({ at, which, to: which }),
  async (world, input) => {
    const booking = pick(world.before.bookings, input.which);
    const { flights } = world.before;
    const others = flights.filter(
      ({ id, free }) => id !== booking?.flight && free >= (booking?.seats ?? 0),
    );
    const to = pick(others.length > 0 && input.to % 4 > 0 ? others : flights, input.to);
    if (booking === undefined || to === undefined) return nothing;
    const expected = flightOffer(world.before, booking, to, world.clock.now());
    const body = { flightId: to.id };
    const { status, answer } = await world.ofBooking(input.at, booking, "POST", "/changes", body);
    equal(status, expected.status, JSON.stringify(answer));
    if (status === 201) equalTerms(answer, expected);
    world.count(
      status === 201 ? `offer flight: ${signOf(expected.change)}` : "offer flight refused",
    );
    return nothing;
  },
);

const bookingOf = (world: World, offer: OfferRow | undefined) =>
  world.before.bookings.find(({ id }) => id === offer?.booking);

/** Above all an open one. */
function someOffer({ before: { offers } }: World, index: number): OfferRow | undefined {
  const open = offers.filter(isOpen);
  return pick(open.length > 0 && index % 4 > 0 ? open : offers, index);
}

export const confirm = step("confirm", fc.record({ at, which }), async (world, input) => {
  const offer = someOffer(world, input.which);
  const booking = bookingOf(world, offer);
  if (offer === undefined || booking === undefined) return nothing;
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
  if (!isCurrent || offer.change > 0) return nothing;
  return { id: booking.id, fields: changed(booking, offer, 0) };
});

export const withdraw = step("withdraw", fc.record({ at, which }), async (world, input) => {
  const offer = someOffer(world, input.which);
  const booking = bookingOf(world, offer);
  if (offer === undefined || booking === undefined) return nothing;
  const { status } = await world.ofBooking(input.at, booking, "DELETE", `/changes/${offer.id}`);
  equal(status, offer.status === "confirmed" ? 409 : 200);
  world.count(`withdraw: ${offer.status}`);
  return nothing;
});

/** Requests about one booking at once, of which any may come first. */
export const race = step(
  "race",
  fc.record({ at, which, kinds: fc.nat({ max: 3 }) }),
  async (world, input) => {
    const offer = pick(
      world.before.offers.filter(({ status }) => status === "offered" || status === "pending"),
      input.which,
    );
    const booking = bookingOf(world, offer);
    if (offer === undefined || booking === undefined) return nothing;
    const path = `/changes/${offer.id}`;
    const minor = offer.status === "pending" ? offer.change : booking.total;
    const rivals = [
      () => world.ofBooking(input.at, booking, "DELETE", ""),
      () => world.ofBooking(input.at, booking, "DELETE", path),
      () => world.pay(input.at, "payment_intent.succeeded", payment(world, booking, minor)),
      () =>
        world.import(input.at, offer.to ?? offer.flight, (flight) => later(flight as Flight, 1)),
    ];
    await Promise.all([
      world.ofBooking(input.at + 1, booking, "POST", `${path}/confirm`),
      rivals[input.kinds]?.(),
      world.ofBooking(input.at, booking, "POST", `${path}/confirm`),
    ]);
    world.count(`race ${input.kinds}`);
    return null;
  },
);

/** Each booking is changed at every instance at once, in opposite orders. Anything may come of it, but no error. */
export const rush = step("rush", fc.record({ to: which }), async (world, input) => {
  const { bookings, flights } = world.before;
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
  return null;
});
