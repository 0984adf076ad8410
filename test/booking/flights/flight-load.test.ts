import { describe, expect, test } from "bun:test";

import { insertFlight } from "../../../src/booking/flights/flights.sql.ts";
import { write } from "../../../src/db/statement.ts";
import { json, jsonWith } from "../../support/app.ts";
import { addFlight, bookingBody, flightPlan, post } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();

const at = (time: string) => new Date(`2026-${time}Z`);
const get = async (path: string) => json(await app.as("operator", path));

describe("GET /v1/flights/load", () => {
  test("sums seats and seats sold for each day in UTC, including empty days", async () => {
    await addFlight(app, { flightNumber: "SK1", departureTime: at("12-01T23:59:59.999") });
    await addFlight(app, { flightNumber: "SK2", departureTime: at("12-02T00:00") });
    const full = await addFlight(app, {
      flightNumber: "SK3",
      departureTime: at("12-02T23:59:59.999"),
      seats: 3,
    });
    await addFlight(app, { flightNumber: "SK4", departureTime: at("12-04T00:00") });
    await app.as("user", "/v1/api/bookings", post(bookingBody(full.id, 3)));
    expect(await get("/v1/flights/load?from=2026-12-02&days=2")).toEqual({
      from: "2026-12-02",
      days: [
        { date: "2026-12-02", departures: 2, seats: 13, sold: 3 },
        { date: "2026-12-03", departures: 0, seats: 0, sold: 0 },
      ],
    });
  });

  test("returns 14 days from today by default", async () => {
    const { from, days } = await get("/v1/flights/load");
    expect(from).toBe("2026-11-21");
    expect(itemsOf(days).map(({ date }) => date)).toEqual(
      Array.from({ length: 14 }, (_, day) =>
        new Date(Date.UTC(2026, 10, 21 + day)).toISOString().slice(0, 10),
      ),
    );
  });

  test.each([
    ["days=0", "days"],
    ["days=63", "days"],
    ["days=x", "days"],
    ["days=1&days=2", "days"],
    ["from=2026-02-30", "from"],
    ["from=today", "from"],
    ["from=", "from"],
    ["from=-271821-04-19", "from"],
  ])("?%s is 400", async (query, parameter) => {
    expect(
      await jsonWith(await app.as("operator", `/v1/flights/load?${query}`), 400),
    ).toMatchObject({ code: "invalid-parameter", errors: [{ parameter }] });
  });
});

describe("GET /v1/flights/load/{date}", () => {
  test("lists each cabin of each departure, earliest first", async () => {
    const late = await addFlight(app, { flightNumber: "SK2", departureTime: at("12-02T20:00") });
    const soon = await addFlight(app, {
      flightNumber: "SK1",
      departureTime: at("12-02T08:00"),
      cabinClass: "first",
      seats: 4,
    });
    await addFlight(app, { flightNumber: "SK3", departureTime: at("12-03T00:00") });
    await app.as("user", "/v1/api/bookings", post(bookingBody(soon.id, 4)));
    const route = { origin: "JFK", destination: "LHR" };
    expect(await get("/v1/flights/load/2026-12-02")).toEqual({
      date: "2026-12-02",
      departures: [
        {
          id: soon.id,
          flightNumber: "SK1",
          ...route,
          departureTime: "2026-12-02T08:00:00.000Z",
          departureLocal: "2026-12-02T03:00:00-05:00",
          cabinClass: "first",
          seats: 4,
          sold: 4,
        },
        {
          id: late.id,
          flightNumber: "SK2",
          ...route,
          departureTime: "2026-12-02T20:00:00.000Z",
          departureLocal: "2026-12-02T15:00:00-05:00",
          cabinClass: "economy",
          seats: 10,
          sold: 0,
        },
      ],
      hasMore: false,
    });
  });

  test.each([
    ["flight=sk1", ["SK1"]],
    ["origin=jfk", ["SK1", "SK2"]],
    ["origin=JFK&destination=cdg", ["SK2"]],
    ["destination=JFK", []],
  ])("?%s lists and sums the matching departures", async (query, expected) => {
    const departureTime = at("12-02T08:00");
    await addFlight(app, { flightNumber: "SK1", departureTime });
    await addFlight(app, { flightNumber: "SK2", departureTime, destination: "CDG" });
    const { departures } = await get(`/v1/flights/load/2026-12-02?${query}`);
    expect(itemsOf(departures).map(({ flightNumber }) => flightNumber)).toEqual(expected);
    const { days } = await get(`/v1/flights/load?from=2026-12-02&days=1&${query}`);
    expect(days).toMatchObject([{ departures: expected.length, seats: 10 * expected.length }]);
  });

  test("lists at most 500 departures, and sets hasMore if there are more", async () => {
    const createdAt = new Date(app.clock.now());
    const flights = Array.from({ length: 501 }, (_, n) => ({
      ...flightPlan(app, { flightNumber: `SK${n}`, departureTime: at("12-02T08:00") }),
      createdAt,
    }));
    await app.services.storage.atomically(...flights.map((flight) => write(insertFlight, flight)));
    const { departures, hasMore } = await get("/v1/flights/load/2026-12-02");
    expect([itemsOf(departures).length, hasMore]).toEqual([500, true]);
  });

  test.each(["2026-02-30", "1", "2026-12-02T00:00", "%00"])("%s is 400", async (date) => {
    const response = await app.as("operator", `/v1/flights/load/${date}`);
    expect(await jsonWith(response, 400)).toMatchObject({ code: "invalid-parameter" });
  });
});
