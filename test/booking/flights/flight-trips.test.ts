import { describe, expect, test } from "bun:test";

import type { FlightPlan } from "../../../src/booking/flight.ts";
import { json, jsonWith } from "../../support/app.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";
import { at, dataOf } from "../../support/graphql.ts";
import { itemsOf } from "../../support/operator.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();

type Query = Readonly<Record<string, string>>;
const dates = { departureDate: "2026-12-01", returnDate: "2026-12-08" };
const get = (query: Query = {}) => {
  const all = { origin: "JFK", destination: "LHR", ...dates, ...query };
  return app.fetch(`/v1/api/flights/trips?${new URLSearchParams(all).toString()}`);
};
const search = async (query: Query = {}) => jsonWith(await get(query), 200);
const shown = async (query: Query = {}) =>
  itemsOf((await search(query))["trips"]).map((trip) => {
    const [out, back] = [at(trip, "outbound", "flightNumber"), at(trip, "inbound", "flightNumber")];
    return `${String(out)} ${String(back)} ${Object.values(Object(trip["totalPrice"])).join(" ")}`;
  });
const out = (flightNumber: string, fields: Partial<FlightPlan> = {}) =>
  addFlight(app, { flightNumber, departureTime: new Date("2026-12-01T20:00:00Z"), ...fields });
const back = (flightNumber: string, fields: Partial<FlightPlan> = {}) =>
  addFlight(app, {
    flightNumber,
    origin: "LHR",
    destination: "JFK",
    departureTime: new Date("2026-12-08T12:00:00Z"),
    ...fields,
  });

describe("return trips", () => {
  test("have both flights as a search returns them, and the total for all passengers", async () => {
    const [{ id }, { id: backId }] = [await out("SK1"), await back("SK2", { priceMinor: 10_025 })];
    const response = await get({ passengers: "3" });
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(await json(response)).toEqual({
      trips: [
        {
          outbound: await json(await app.fetch(`/v1/api/flights/${id}`)),
          inbound: await json(await app.fetch(`/v1/api/flights/${backId}`)),
          totalPrice: { amount: 1_799.25, currency: "USD" },
        },
      ],
      totalResults: 1,
      mixedCurrencies: 0,
      page: 1,
      pageSize: 20,
    });
  });

  test("are ordered by total, then by outbound and inbound departure", async () => {
    await out("O1", { priceMinor: 300, departureTime: new Date("2026-12-01T22:00:00Z") });
    await out("O2", { priceMinor: 100 });
    await out("O3", { priceMinor: 300 });
    await back("I1", { priceMinor: 200, departureTime: new Date("2026-12-08T14:00:00Z") });
    await back("I2", { priceMinor: 400 });
    await back("I3", { priceMinor: 200 });
    expect(await shown()).toEqual([
      "O2 I3 3 USD",
      "O2 I1 3 USD",
      "O2 I2 5 USD",
      "O3 I3 5 USD",
      "O3 I1 5 USD",
      "O1 I3 5 USD",
      "O1 I1 5 USD",
      "O3 I2 7 USD",
      "O1 I2 7 USD",
    ]);
  });

  test("have one currency, and say how many pairs have two", async () => {
    await out("USD1", { priceMinor: 100 });
    await out("JPY1", { priceMinor: 100, currency: "JPY" });
    await back("KWD2", { priceMinor: 100, currency: "KWD" });
    await back("USD2", { priceMinor: 100 });
    await back("JPY2", { priceMinor: 150, currency: "JPY" });
    expect(await shown({ passengers: "2" })).toEqual(["JPY1 JPY2 500 JPY", "USD1 USD2 4 USD"]);
    expect(await search()).toMatchObject({ totalResults: 2, mixedCurrencies: 4 });
  });

  test("return after the outbound flight has arrived", async () => {
    await out("SK1", { arrivalTime: new Date("2026-12-02T06:00:00Z") });
    await back("EARLY", { departureTime: new Date("2026-12-02T06:00:00Z") });
    await back("LATER", { departureTime: new Date("2026-12-02T06:00:00.001Z") });
    expect(await shown({ returnDate: "2026-12-02" })).toEqual(["SK1 LATER 999 USD"]);
  });

  test("have enough seats, the cabin and the days at both airports", async () => {
    await out("SK1");
    await out("FIRST", { cabinClass: "first" });
    await out("NEXT", { departureTime: new Date("2026-12-02T05:00:00Z") });
    await back("SK2", { departureTime: new Date("2026-12-08T00:00:00Z"), seats: 1 });
    await back("SK3", { departureTime: new Date("2026-12-09T00:00:00Z") });
    expect(await shown({ cabinClass: "economy" })).toEqual(["SK1 SK2 999 USD"]);
    expect(await shown({ passengers: "2" })).toEqual([]);
    app.clock.advance(Date.parse("2026-12-01T19:00:00Z") - app.clock.now());
    expect(await shown()).toEqual([]);
  });

  test("pair the 50 cheapest flights of each day, from all currencies", async () => {
    for (let number = 0; number < 60; number += 1) {
      await out(`O${number}`, { priceMinor: 1_000 - number });
      await back(`I${number}`, { priceMinor: 100 });
    }
    await out("JPY", { currency: "JPY", priceMinor: 900_000 });
    const result = await search({ limit: "100" });
    expect(result).toMatchObject({ totalResults: 49 * 50, mixedCurrencies: 50, pageSize: 100 });
    const cheapest = itemsOf(result["trips"]).map((trip) => at(trip, "outbound", "flightNumber"));
    expect(cheapest).toEqual([...Array(50).fill("O59"), ...Array(50).fill("O58")]);
    const [last] = await shown({ page: "2450", limit: "1" });
    expect(last).toStartWith("O11 ");
  });

  test("are paged, with links", async () => {
    for (const number of [1, 2, 3]) await out(`O${number}`, { priceMinor: number });
    for (const number of [1, 2]) await back(`I${number}`, { priceMinor: number });
    const pages = await Promise.all(["1", "2", "3"].map((page) => shown({ page, limit: "2" })));
    expect(pages.flat()).toEqual(await shown());
    expect(pages.map((page) => page.length)).toEqual([2, 2, 2]);
    const link = async (page: string) =>
      [
        ...((await get({ page, limit: "2" })).headers.get("link") ?? "").matchAll(/rel="(\w+)"/g),
      ].map(([, rel]) => rel);
    expect(await Promise.all(["1", "2", "3"].map(link))).toEqual([
      ["next"],
      ["next", "prev"],
      ["prev"],
    ]);
    expect(await search({ page: "4", limit: "2" })).toMatchObject({ trips: [], totalResults: 6 });
  });

  test.each([{ origin: "QQQ" }, { destination: "QQQ" }])("are none for %j", async (query) => {
    expect(await search(query)).toMatchObject({ trips: [], totalResults: 0, mixedCurrencies: 0 });
  });

  test.each([
    [{ returnDate: "2026-11-30" }, ["returnDate"]],
    [{ returnDate: "2026-02-30", destination: "JFK" }, ["returnDate", "destination"]],
    [{ page: "501" }, ["page"]],
    [{ from: "2026-12-01" }, ["from"]],
    [
      { origin: "", departureDate: "x", passengers: "10", cabinClass: "x", limit: "0" },
      ["origin", "departureDate", "passengers", "cabinClass", "limit"],
    ],
  ])("name every invalid parameter: %j", async (query, parameters) => {
    const { code, errors } = await jsonWith(await get(query), 400);
    expect(code).toBe("invalid-parameter");
    expect(itemsOf(errors).map(({ parameter }) => parameter)).toEqual(parameters);
  });

  test("are the same in GraphQL", async () => {
    await out("SK1");
    await back("SK2");
    const data = await dataOf(
      app,
      null,
      `{ searchTrips(origin: "JFK", destination: "LHR", departureDate: "2026-12-01", returnDate: "2026-12-08",
         passengers: 2, cabinClass: economy, page: 1, limit: 5) {
         trips { outbound { flightNumber } inbound { flightNumber } totalPrice { amount currency } }
         totalResults mixedCurrencies page pageSize } }`,
    );
    const query = { passengers: "2", cabinClass: "economy", page: "1", limit: "5" };
    expect(await search(query)).toMatchObject(Object(data["searchTrips"]));
  });
});

test("a trip whose second flight is sold out leaves no booking once its hold is cancelled", async () => {
  const [{ id }, { id: backId }] = [await out("SK1"), await back("SK2", { seats: 1 })];
  const book = async (flightId: number, passengers: number, hold: boolean) => {
    const body = post(
      { ...bookingBody(flightId, passengers), hold },
      { "idempotency-key": `trip-${flightId}` },
    );
    return app.as("user", "/v1/api/bookings", body);
  };
  const { bookingId, status } = await jsonWith(await book(id, 2, true), 201);
  expect(status).toBe("held");
  expect(await jsonWith(await book(backId, 2, false), 409)).toMatchObject({ code: "no-seats" });
  const path = `/v1/api/bookings/${String(bookingId)}`;
  const cancelled = await jsonWith(await app.as("user", path, { method: "DELETE" }), 200);
  expect(cancelled).toMatchObject({ refund: { amount: 0, fee: 0, status: "none" } });
  expect(await seatsLeft(app, id)).toBe(10);
});
