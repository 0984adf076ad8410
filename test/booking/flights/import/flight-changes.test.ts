import { afterEach, describe, expect, test } from "bun:test";

import { asc } from "drizzle-orm";

import { nextTurn } from "../../../../src/base/own-turn.ts";
import { unsentFlightEvents } from "../../../../src/booking/flights/import/import-flights.sql.ts";
import type { Flight } from "../../../../src/booking/model/flight.ts";
import { statementsOver } from "../../../../src/db/statement.ts";
import { eventsTable } from "../../../../src/event/event.ts";
import { json, jsonWith } from "../../../support/app.ts";
import { bookingCalls, eventsAbout } from "../../../support/bookings.ts";
import { changeFlight, type FlightImport, later } from "../../../support/flight-changes.ts";
import { addFlight } from "../../../support/flights.ts";
import { at, dataOf } from "../../../support/graphql.ts";
import { expectHolds } from "../../../support/holds.ts";
import { untilLater } from "../../../support/notifying.ts";
import { appForAll } from "../../../support/running-app.ts";

const app = appForAll();
afterEach(() => expectHolds(app));
const { book, cancel, get, quote } = bookingCalls(app);
const hourMs = 3_600_000;
let number = 0;

/** A new flight that leaves in some hours, with a booking of ada's. */
async function booked(hours = 48) {
  number += 1;
  const departureTime = new Date(app.clock.now() + hours * hourMs);
  const flight = await addFlight(app, { flightNumber: `FC${number}`, departureTime });
  const { bookingId } = await jsonWith(await book(flight.id), 201);
  return { flight, id: String(bookingId) };
}

/** The events about a flight, once all have notifications. */
async function eventsOf({ id }: Flight) {
  const unsent = () => app.services.storage.all(unsentFlightEvents, { limit: 1 });
  await untilLater(app, async () => (await unsent()).length === 0, 500);
  return eventsAbout(app, `flight/${id}`);
}

const move = (flight: Flight, hours = 2) => changeFlight(app, flight, later(flight, hours));
const refundOf = async (id: unknown) => (await json(await quote(id)))["refund"];
const full = { percent: 100, reason: "The flight was changed" };

describe("a flight that changes", () => {
  test.each<[string, (flight: Flight) => FlightImport, string, string]>([
    ["moves", (flight) => later(flight, 2), "flight.changed", "departs "],
    [
      "arrives later",
      (flight) => ({ arrivalTime: later(flight, 1).arrivalTime }),
      "flight.changed",
      "arrives ",
    ],
    ["has another airport", () => ({ destination: "LGW" }), "flight.changed", "flies JFK → LGW "],
    ["is cancelled", () => "cancelled", "flight.cancelled", "JFK → LHR of "],
  ])("and %s has one event, and its booking shows the change", async (_, changeOf, type, title) => {
    const { flight, id } = await booked();
    await jsonWith(await book(flight.id), 201);
    expect(await json(await get(id))).not.toHaveProperty("flightChange");
    const changed = await changeFlight(app, flight, changeOf(flight));
    const [event, ...others] = await eventsOf(flight);
    expect(others).toEqual([]);
    const previous = {
      previousDepartureTime: flight.departureTime.toISOString(),
      previousArrivalTime: flight.arrivalTime.toISOString(),
      previousOrigin: "JFK",
      previousDestination: "LHR",
    };
    const present = {
      departureTime: changed.departureTime.toISOString(),
      arrivalTime: changed.arrivalTime.toISOString(),
      origin: changed.origin,
      destination: changed.destination,
    };
    const { id: flightId, flightNumber } = flight;
    expect(event).toMatchObject({
      type,
      title: expect.stringContaining(`${flightNumber} ${title}`),
      actor: null,
    });
    const known = { flightId, flightNumber, ...previous };
    expect(event?.["data"]).toEqual(type === "flight.changed" ? { ...known, ...present } : known);
    const changedAt = new Date(app.clock.now()).toISOString();
    const shown = await json(await app.as("admin", `/v1/api/bookings/${id}`));
    expect(shown["flightChange"]).toMatchObject({ type, ...previous });
    expect(String(at(shown, "flightChange", "changedAt")) <= changedAt).toBe(true);
    expect(shown["history"]).toContainEqual(
      expect.objectContaining({ type, eventId: event?.["id"], notifications: [expect.anything()] }),
    );
    const read = `{ booking(bookingId: "${id}") { flightChange { type previousDepartureTime } } }`;
    const { previousDepartureTime } = previous;
    expect(await dataOf(app, ["user", "ada"], read)).toEqual({
      booking: { flightChange: { type, previousDepartureTime } },
    });
  });

  test.each<[string, number, FlightImport | "moved", object]>([
    ["a moved flight", 72, "moved", full],
    ["a moved flight", 1, "moved", full],
    ["a cancelled flight", 1, "cancelled", { ...full, reason: "The flight was cancelled" }],
    [
      "a cancelled flight that would have departed",
      -1,
      "cancelled",
      { ...full, reason: "The flight was cancelled" },
    ],
    ["a flight with another price", 60, { priceMinor: 1 }, { percent: 50 }],
  ])("%s, %d h before departure, can be cancelled", async (_, hours, change, refund) => {
    const { flight, id } = await booked(200);
    await changeFlight(app, flight, change === "moved" ? later(flight, 1) : change);
    app.clock.advance(flight.departureTime.getTime() - hours * hourMs - app.clock.now());
    expect(await refundOf(id)).toMatchObject(refund);
    expect(await jsonWith(await cancel(id), 200)).toMatchObject({ refund });
  });

  test("gives no right to who books it afterwards, until it changes again", async () => {
    const { flight } = await booked(60);
    const once = await move(flight);
    const { bookingId } = await jsonWith(await book(flight.id), 201);
    app.clock.advance(25 * hourMs);
    expect(await json(await get(bookingId))).not.toHaveProperty("flightChange");
    expect(await refundOf(bookingId)).toMatchObject({ percent: 50 });
    await move(once);
    expect(await json(await get(bookingId))).toMatchObject({
      flightChange: { previousDepartureTime: once.departureTime.toISOString() },
    });
    expect(await refundOf(bookingId)).toMatchObject(full);
    expect(await eventsOf(flight)).toHaveLength(2);
  });

  test("gives no right after its departure", async () => {
    const { flight, id } = await booked();
    await move(flight);
    app.clock.advance(51 * hourMs);
    expect(await jsonWith(await cancel(id), 400)).toMatchObject({ code: "not-cancellable" });
  });
});

/** The types of events in the order of their commits. */
const inOrder = statementsOver({ events: eventsTable })<{ keys: readonly string[] }>()(
  (db, { events: { type, idempotencyKey, position } }, p, dialect) =>
    db
      .select({ type })
      .from(position.table)
      .where(dialect.among(idempotencyKey, p.keys))
      .orderBy(asc(position)),
);

test("an import during a cancellation either finds the booking cancelled, or refunds it in full", async () => {
  // One begins at another moment of the other each time.
  for (let round = -60; round < 60; round += 1) {
    const { flight, id } = await booked(60);
    app.clock.advance(1);
    const begun = [round < 0 ? move(flight) : null, round < 0 ? null : cancel(id)] as const;
    for (let turn = 0; turn < Math.abs(round) % 30; turn += 1) await nextTurn();
    const [cancelled] = await Promise.all([begun[1] ?? cancel(id), begun[0] ?? move(flight)]);
    const { refund } = await jsonWith(cancelled, 200);
    const keys = [`bookings:${id}:cancelled`, `bookings:flight/${flight.id}:1`];
    const [first] = await app.services.storage.all(inOrder, { keys });
    expect(refund).toMatchObject({ percent: first?.type === "flight.changed" ? 100 : 50 });
  }
});
