import { afterEach, expect, test } from "bun:test";

import { nextTurn } from "../../../src/base/own-turn.ts";
import type { Flight } from "../../../src/booking/model/flight.ts";
import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, changeCalls, flightBookings } from "../../support/bookings.ts";
import { changeFlight, type FlightImport, later } from "../../support/flight-changes.ts";
import { seatsLeft } from "../../support/flights.ts";
import { expectHolds } from "../../support/holds.ts";
import { untilLater } from "../../support/notifying.ts";
import { payer } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const hourMs = 3_600_000;
const holdMs = 20 * 60_000;
const app = appForAll();
afterEach(() => expectHolds(app));
const { get, cancel } = bookingCalls(app);
const deliver = payer(app);
const calls = changeCalls(app);
const { flightAt, booked } = flightBookings(app, "OO");

const offerPart = async (id: string, passengers: readonly number[]) =>
  jsonWith(await calls.offerPart(id, passengers), 201);
const offerFlight = async (id: string, flightId: number) =>
  jsonWith(await calls.offerFlight(id, flightId), 201);
const confirm = (id: string, { id: change }: Record<string, unknown>) => calls.confirm(id, change);
const pay = (booking: string, amount: number) =>
  deliver("payment_intent.succeeded", { booking, amount });

test.each([[[1]], [[1, 2]]])(
  "an offer of positions %p of a hold ends when the hold is paid, since it refunds nothing",
  async (passengers) => {
    const { id } = await booked((await flightAt(100)).id, 2, { hold: true });
    const offered = await offerPart(id, passengers);
    await pay(id, 20_000);
    expect(await jsonWith(await confirm(id, offered), 409)).toMatchObject({ code: "offer-ended" });
    expect(await json(await get(id))).toMatchObject({ status: "confirmed", totalPrice: 200 });
  },
);

test("an offer of a part of a hold ends with the hold, whose seats are released once", async () => {
  const flight = await flightAt(100);
  await booked(flight.id, 3);
  const { id } = await booked(flight.id, 2, { hold: true });
  app.clock.advance(holdMs / 2);
  const offered = await offerPart(id, [1]);
  await untilLater(app, async () => (await seatsLeft(app, flight.id)) === 7, 30_000);
  expect((await confirm(id, offered)).status).toBe(409);
  expect(await seatsLeft(app, flight.id)).toBe(7);
});

test("an offer of a part of a hold ends when the airline moves the flight, and the hold stays", async () => {
  const flight = await flightAt(100);
  const { id } = await booked(flight.id, 2, { hold: true });
  const offered = await offerPart(id, [1]);
  await changeFlight(app, flight, later(flight, 5));
  expect(await jsonWith(await confirm(id, offered), 409)).toMatchObject({ code: "offer-ended" });
  expect(await seatsLeft(app, flight.id)).toBe(8);
  await expectHolds(app);
});

test("after a change by the airline, what an earlier change made non-refundable limits nothing", async () => {
  // Less than 24 h before departure: half of the price is lost, and nothing is refundable.
  const [from, to, cheap] = [await flightAt(20), await flightAt(400), await flightAt(400, 1_000)];
  const ids = [(await booked(from.id, 3)).id, (await booked(from.id, 3)).id];
  for (const id of ids) {
    const offered = await offerFlight(id, to.id);
    expect(offered).toMatchObject({ changeTotal: 150 });
    await jsonWith(await confirm(id, offered), 200);
    await pay(id, 15_000);
  }
  await changeFlight(app, to, later(to, 5));
  const [inParts = "", changed = ""] = ids;
  for (const position of [1, 2]) {
    const offered = await offerPart(inParts, [position]);
    expect(offered).toMatchObject({ changeTotal: -100 });
    await jsonWith(await confirm(inParts, offered), 200);
  }
  expect(await json(await cancel(inParts))).toMatchObject({ refund: { amount: 100 } });
  const offered = await offerFlight(changed, cheap.id);
  expect(offered).toMatchObject({ changeTotal: -270 });
  await jsonWith(await confirm(changed, offered), 200);
  // The rest of the price is refundable as before, within the free hours after booking.
  expect(await json(await cancel(changed))).toMatchObject({ refund: { amount: 30 } });
});

test.each([
  ["the free hours after booking", 24 * 9, 24],
  ["the days before departure of the free hours", 24 * 7 + 2, 2],
  ["a step before departure", 80, 8],
])("an offer ends with the reason of its terms: %s", async (_, departsIn, endsIn) => {
  const [from, to] = [await flightAt(departsIn), await flightAt(400)];
  const { id } = await booked(from.id, 1);
  app.clock.advance(endsIn * hourMs - 60_000);
  const expiresAt = new Date(app.clock.now() + 60_000).toISOString();
  expect(await offerPart(id, [1])).toMatchObject({ expiresAt });
  const offered = await offerFlight(id, to.id);
  expect(offered).toMatchObject({ expiresAt });
  app.clock.advance(60_001);
  expect(await jsonWith(await confirm(id, offered), 409)).toMatchObject({ code: "offer-ended" });
  // Another offer has other terms.
  expect(await offerFlight(id, to.id)).not.toMatchObject({ changeTotal: offered["changeTotal"] });
});

test("an offer made while the airline moves the flight does not keep the old terms", async () => {
  const to = await flightAt(400);
  // One begins at another moment of the other each time.
  for (let round = -25; round < 25; round += 1) {
    const from = await flightAt(60);
    const { id } = await booked(from.id, 1);
    app.clock.advance(1);
    const move = () => changeFlight(app, from, later(from, 5));
    const begun = [round < 0 ? move() : null, round < 0 ? null : offerFlight(id, to.id)] as const;
    for (let turn = 0; turn < Math.abs(round); turn += 1) await nextTurn();
    const [offered] = await Promise.all([begun[1] ?? offerFlight(id, to.id), begun[0] ?? move()]);
    const { status } = await json(await calls.call(`${id}/changes/${String(offered["id"])}`));
    if (status === "offered") expect(offered).toMatchObject({ penalty: 0 });
    await cancel(id);
  }
});

test("an offer that is confirmed and withdrawn at the same time is withdrawn", async () => {
  const [from, to] = [await flightAt(100), await flightAt(400, 20_000)];
  const { id } = await booked(from.id, 1);
  // One begins at another moment of the other each time.
  for (let round = -15; round < 15; round += 1) {
    const offered = await offerFlight(id, to.id);
    const path = `${id}/changes/${String(offered["id"])}`;
    const steps = [() => confirm(id, offered), () => calls.withdraw(id, offered["id"])];
    const [first, second] = round < 0 ? steps : steps.toReversed();
    const begun = first?.();
    for (let turn = 0; turn < Math.abs(round); turn += 1) await nextTurn();
    await Promise.all([begun, second?.()]);
    expect(await json(await calls.call(path))).toMatchObject({ status: "withdrawn" });
  }
});

test("a free offer ends when the airline moves the flight back", async () => {
  const [from, to] = [await flightAt(60), await flightAt(400)];
  const { id } = await booked(from.id, 1);
  const moved = await changeFlight(app, from, later(from, 5));
  const offered = await offerFlight(id, to.id);
  expect(offered).toMatchObject({ penalty: 0 });
  await changeFlight(app, moved, later(moved, -5));
  expect(await jsonWith(await confirm(id, offered), 409)).toMatchObject({ code: "offer-ended" });
  expect(await seatsLeft(app, to.id)).toBe(10);
});

test.each([
  ["cancels the new flight", "to", () => "cancelled"],
  ["moves the new flight", "to", (flight) => later(flight, 5)],
  [
    "changes its arrival",
    "to",
    ({ arrivalTime }) => ({ arrivalTime: new Date(arrivalTime.getTime() + hourMs) }),
  ],
  ["moves the present flight", "from", (flight) => later(flight, 5)],
] satisfies [string, "from" | "to", (flight: Flight) => FlightImport][])(
  "an offer to change the flight ends when the airline %s",
  async (_, end, change) => {
    const flights = { from: await flightAt(100), to: await flightAt(100, 20_000) };
    const { id } = await booked(flights.from.id, 2);
    app.clock.advance(25 * hourMs);
    const offered = await offerFlight(id, flights.to.id);
    expect(await jsonWith(await confirm(id, offered), 200)).toMatchObject({ status: "pending" });
    await changeFlight(app, flights[end], change(flights[end]));
    expect((await confirm(id, offered)).status).toBe(409);
    // Its seats are free again, and its payment changes nothing.
    await pay(id, Number(offered["changeTotal"]) * 100);
    expect(await json(await get(id))).toMatchObject({ flight: { id: flights.from.id } });
    expect(await seatsLeft(app, flights.to.id)).toBe(10);
    expect(await seatsLeft(app, flights.from.id)).toBe(8);
  },
);
