import { describe, expect, test } from "bun:test";

import { nextTurn } from "../../../src/base/own-turn.ts";
import { unsentNotices } from "../../../src/booking/bookings/flight-change-notices.sql.ts";
import type { Flight } from "../../../src/booking/flight.ts";
import { json, jsonWith, until } from "../../support/app.ts";
import { bookingCalls, eventsAbout } from "../../support/bookings.ts";
import { changeFlight, type FlightImport, later } from "../../support/flight-changes.ts";
import { addFlight, post } from "../../support/flights.ts";
import { ask, at, dataOf } from "../../support/graphql.ts";
import { untilLater } from "../../support/notifying.ts";
import { listed } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();
const { book, cancel, get, quote } = bookingCalls(app);
const hourMs = 3_600_000;
let number = 0;

/** A new flight that leaves in some hours, with a booking of ada's. */
async function booked(hours = 48, who = "ada") {
  number += 1;
  const departureTime = new Date(app.clock.now() + hours * hourMs);
  const flight = await addFlight(app, { flightNumber: `FC${number}`, departureTime });
  const { bookingId } = await jsonWith(await book(flight.id, 1, {}, who), 201);
  // Not within 24 hours of booking.
  return { flight, id: String(bookingId) };
}

const answer = (id: string, body: unknown = { answer: "accept" }, who = "ada") =>
  app.as("user", `/v1/api/bookings/${id}/flight-change`, post(body), who);

/** The events about changes of a booking's flight, once there are so many. */
async function eventsOf(id: string, count: number) {
  const found = async () =>
    (await eventsAbout(app, `booking/${id}`)).filter(({ type }) =>
      String(type).startsWith("flight."),
    );
  await untilLater(app, async () => (await found()).length >= count, 500);
  return found();
}

const move = (flight: Flight, hours = 2) => changeFlight(app, flight, later(flight, hours));

describe("a booking whose flight changes", () => {
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
  ])("that %s has one event, and shows the change", async (_, changeOf, type, title) => {
    const { flight, id } = await booked();
    expect(await json(await get(id))).not.toHaveProperty("flightChange");
    const change = changeOf(flight);
    const changed = await changeFlight(app, flight, change);
    const [event, ...others] = await eventsOf(id, 1);
    expect(others).toEqual([]);
    const isCancelled = type === "flight.cancelled";
    const times = {
      previousDepartureTime: flight.departureTime.toISOString(),
      previousArrivalTime: flight.arrivalTime.toISOString(),
      previousOrigin: "JFK",
      previousDestination: "LHR",
    };
    const after = {
      departureTime: changed.departureTime.toISOString(),
      arrivalTime: changed.arrivalTime.toISOString(),
      origin: changed.origin,
      destination: changed.destination,
    };
    expect(event).toMatchObject({
      type,
      title: expect.stringContaining(`: ${flight.flightNumber} ${title}`),
      actor: null,
      data: { bookingId: id, ...times, ...(!isCancelled && after), answer: "needed" },
    });
    expect(JSON.stringify(event)).not.toMatch(/"ada"|ada@|lovelace/i);
    const shown = (await json(await get(id)))["flightChange"];
    const nulls = { departureTime: null, arrivalTime: null, origin: null, destination: null };
    expect(shown).toMatchObject({ type, ...times, ...(isCancelled ? nulls : after) });
    expect(shown).toMatchObject({ status: "unanswered", answeredAt: null });

    const { history } = await json(await app.as("admin", `/v1/api/bookings/${id}`));
    expect(history).toContainEqual(
      expect.objectContaining({ type, eventId: event?.id, notifications: [expect.anything()] }),
    );
  });

  test.each<[string, number, "moved" | "cancelled" | "accepted" | "small", number, RegExp]>([
    ["a moved flight", 72, "moved", 100, /^The flight was changed$/],
    ["a cancelled flight", 1, "cancelled", 100, /^The flight was cancelled$/],
    [
      "a cancelled flight that would have departed",
      -1,
      "cancelled",
      100,
      /^The flight was cancelled$/,
    ],
    ["an accepted move", 60, "accepted", 50, /^More than 24 h before departure$/],
    ["a small move", 60, "small", 50, /^More than 24 h before departure$/],
  ])(
    "%s, %d h before departure, is %s: %d %% are refunded",
    async (_, hours, state, percent, reason) => {
      const { flight, id } = await booked(200);
      if (state === "small") await changeFlight(app, flight, later(flight, 1), 90);
      else if (state === "cancelled") await changeFlight(app, flight, "cancelled");
      else await move(flight, 1);
      if (state === "accepted") expect((await answer(id)).status).toBe(200);
      await eventsOf(id, 1);
      app.clock.advance(flight.departureTime.getTime() - hours * hourMs - app.clock.now());
      const refund = { percent, reason: expect.stringMatching(reason) };
      expect(await json(await quote(id))).toMatchObject({ refund });
      expect(await jsonWith(await cancel(id), 200)).toMatchObject({ refund });
      const status = {
        moved: "cancelled",
        cancelled: "cancelled",
        small: "notified",
        accepted: "accepted",
      };
      expect(await json(await get(id))).toMatchObject({ flightChange: { status: status[state] } });
    },
  );
});

describe("an owner's answer", () => {
  test("accepts the change once, and is in the history", async () => {
    const { flight, id } = await booked();
    const moved = await move(flight);
    const accepted = await jsonWith(await answer(id), 200);
    const answeredAt = new Date(app.clock.now()).toISOString();
    const departureTime = moved.departureTime.toISOString();
    expect(accepted).toMatchObject({ status: "accepted", answeredAt, departureTime });
    app.clock.advance(hourMs);
    expect(await jsonWith(await answer(id), 200)).toEqual(accepted);
    const shown = await json(await app.as("admin", `/v1/api/bookings/${id}`));
    expect(shown["flightChange"]).toEqual(accepted);
    const entry = { type: "flight.accepted", at: answeredAt, actor: "ada" };
    expect(shown["history"]).toContainEqual(expect.objectContaining(entry));
  });

  test("is about all that changed since the last one", async () => {
    const { flight, id } = await booked();
    const once = await move(flight);
    const { flightChange } = await json(await get(id));
    const twice = await move(once);
    await changeFlight(app, twice, { arrivalTime: later(twice, 0.1).arrivalTime }, 30);
    const times = {
      previousDepartureTime: flight.departureTime.toISOString(),
      departureTime: twice.departureTime.toISOString(),
      arrivalTime: later(twice, 0.1).arrivalTime.toISOString(),
    };
    expect(await json(await get(id))).toMatchObject({
      flightChange: { ...times, status: "unanswered" },
    });
    const changeId =
      flightChange instanceof Object && "id" in flightChange ? flightChange.id : null;
    expect(await jsonWith(await answer(id, { answer: "accept", changeId }), 422)).toMatchObject({
      code: "validation-failed",
      errors: [{ pointer: "/changeId" }],
    });
    expect((await answer(id)).status).toBe(200);
    expect(await json(await quote(id))).toMatchObject({ refund: { percent: 50 } });
    expect(await eventsOf(id, 3)).toHaveLength(3);
  });

  const accept = { answer: "accept" };
  test.each<[string, unknown, number, string, (made: { flight: Flight; id: string }) => unknown]>([
    ["to no change", accept, 404, "booking-not-found", () => {}],
    [
      "of another word",
      { answer: "maybe" },
      422,
      "validation-failed",
      ({ flight }) => move(flight),
    ],
    ["of another type", { answer: 1 }, 400, "invalid-body", ({ flight }) => move(flight)],
    ["without one", {}, 422, "validation-failed", ({ flight }) => move(flight)],
    [
      "to a cancelled flight",
      accept,
      422,
      "booking-closed",
      ({ flight }) => changeFlight(app, flight, "cancelled"),
    ],
    [
      "for a cancelled booking",
      accept,
      422,
      "booking-closed",
      async ({ flight, id }) => {
        await move(flight);
        await cancel(id);
      },
    ],
    [
      "after the departure",
      accept,
      422,
      "booking-closed",
      async ({ flight }) => {
        await move(flight);
        app.clock.advance(51 * hourMs);
      },
    ],
  ])("%s is refused", async (_, body, status, code, prepare) => {
    const made = await booked();
    await prepare(made);
    expect(await jsonWith(await answer(made.id, body), status)).toMatchObject({ code });
  });

  test("is for the owner and admins; others get the error of a missing booking", async () => {
    const { flight, id } = await booked();
    await move(flight);
    const {
      instance: _,
      requestId: __,
      ...problem
    } = await jsonWith(await answer(id, accept, "bob"), 404);
    expect(await jsonWith(await answer("bk_0", accept, "bob"), 404)).toMatchObject(problem);
    const path = `/v1/api/bookings/${id}/flight-change`;
    expect((await app.as("operator", path, post(accept))).status).toBe(404);
    expect((await app.as("admin", path, post(accept))).status).toBe(200);
  });

  test("can be given in GraphQL", async () => {
    const { flight, id } = await booked();
    const field = "flightChange { type status previousDepartureTime departureTime }";
    const read = `{ booking(bookingId: "${id}") { ${field} } }`;
    expect(await dataOf(app, ["user", "ada"], read)).toEqual({ booking: { flightChange: null } });
    await move(flight);
    const mutation = `mutation { answerFlightChange(bookingId: "${id}", answer: accept) { ${field} } }`;
    const denied = await ask(app, ["user", "bob"], mutation);
    expect(denied.errors?.[0]?.extensions).toMatchObject({
      code: "booking-not-found",
      status: 404,
    });
    expect(await dataOf(app, ["user", "ada"], mutation)).toMatchObject({
      answerFlightChange: { flightChange: { type: "flight.changed", status: "accepted" } },
    });
    const cancelled = await json(await app.fetch(`/v1/api/flights/${flight.id}`));
    expect(cancelled).not.toHaveProperty("cancelledAt");
  });
});

test("operators see how many have answered, and admins who has not", async () => {
  await move((await booked()).flight);
  const { flight, id } = await booked();
  const made = [id];
  for (const who of ["ada", "bob", "bob"]) {
    made.push(String((await jsonWith(await book(flight.id, 1, {}, who), 201))["bookingId"]));
  }
  await move(flight);
  expect((await answer(made[1] ?? "")).status).toBe(200);
  await cancel(made[2], "bob");
  for (const each of made) await eventsOf(each, 1);
  const page = await json(await app.as("operator", "/v1/flight-changes?limit=1&include=total"));
  const { flightNumber } = flight;
  const counts = { bookings: 4, notified: 4, unanswered: 2, accepted: 1 };
  expect(page["data"]).toEqual([expect.objectContaining({ flightNumber, ...counts })]);
  expect(at(page, "pagination", "total")).toBeGreaterThan(1);
  expect(JSON.stringify(page)).not.toMatch(/bk_|"ada"|"bob"/);
  expect((await app.as("user", "/v1/flight-changes")).status).toBe(403);

  const list = `/v1/api/bookings?flightChange=unanswered&flight=${flightNumber}`;
  const found = await listed(app, list, "admin");
  expect(found.map((booking) => booking["id"])).toEqual([made[3], made[0]]);
  expect((await app.as("user", list)).status).toBe(403);
});

test("an import during a cancellation either finds the booking cancelled, or refunds it in full", async () => {
  // One begins at another moment of the other each time.
  for (let round = -60; round < 60; round += 1) {
    const { flight, id } = await booked(60);
    app.clock.advance(1);
    const begun = [round < 0 ? move(flight) : null, round < 0 ? null : cancel(id)] as const;
    for (let turn = 0; turn < Math.abs(round) % 30; turn += 1) await nextTurn();
    const [cancelled] = await Promise.all([begun[1] ?? cancel(id), begun[0] ?? move(flight)]);
    const { refund } = await jsonWith(cancelled, 200);
    const { flightChange } = await json(await get(id));
    expect(refund).toMatchObject({ percent: flightChange === undefined ? 50 : 100 });
  }
});

test("many bookings are notified in batches, once each", async () => {
  const flight = await addFlight(app, { flightNumber: "FC0", seats: 130 });
  const made = await Promise.all(Array.from({ length: 130 }, () => book(flight.id)));
  expect(made.every(({ status }) => status === 201)).toBe(true);
  const list = "/v1/events?provider=bookings&type=flight.changed&limit=1&include=total";
  const total = async () =>
    Number(at(await json(await app.as("admin", list)), "pagination", "total"));
  const allSent = () =>
    until(async () => {
      app.clock.advance(500);
      return (await app.services.storage.all(unsentNotices, { limit: 1 })).length === 0;
    });
  await allSent();
  const before = await total();
  await move(flight);
  await allSent();
  expect(await total()).toBe(before + 130);
});
