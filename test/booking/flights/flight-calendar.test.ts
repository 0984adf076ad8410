import { expect, test } from "bun:test";

import { nextTurn } from "../../../src/base/own-turn.ts";
import { calendarOf } from "../../../src/booking/flights/flight-calendar.ts";
import type { FlightPlan } from "../../../src/booking/model/flight.ts";
import type { Storage } from "../../../src/db/storage.ts";
import { json, jsonWith } from "../../support/app.ts";
import { addFlight } from "../../support/flights.ts";
import { at } from "../../support/graphql.ts";
import { itemsOf } from "../../support/operator.ts";
import { randomNumbers } from "../../support/random.ts";
import { appPerTest } from "../../support/running-app.ts";

const hourMs = 3_600_000;

const app = appPerTest();

type Query = Readonly<Record<string, string>>;
const route = { origin: "JFK", destination: "LHR" };
const get = (path: string, query: Query) =>
  app.fetch(`/v1/api/flights${path}?${new URLSearchParams({ ...route, ...query }).toString()}`);
const daysOf = async (query: Query) => {
  const response = await get("/calendar", query);
  expect(response.headers.get("cache-control")).toBe("no-cache");
  return itemsOf((await jsonWith(response, 200))["days"]);
};
const leaving = (flightNumber: string, time: string, fields: Partial<FlightPlan> = {}) =>
  addFlight(app, { flightNumber, departureTime: new Date(time), ...fields });

test("a calendar lists every day with its cheapest flight", async () => {
  await leaving("SK1", "2026-12-01T12:00:00Z", { priceMinor: 30_000 });
  const cheap = await leaving("SK2", "2026-12-01T15:00:00Z", { priceMinor: 20_000 });
  await leaving("SK3", "2026-12-01T16:00:00Z", { priceMinor: 20_000 });
  const other = await leaving("SK4", "2026-12-03T12:00:00Z");
  await leaving("SK5", "2026-12-03T12:00:00Z", { destination: "CDG", priceMinor: 1 });
  expect(await daysOf({ from: "2026-12-01", to: "2026-12-03" })).toEqual([
    {
      date: "2026-12-01",
      flightCount: 3,
      cheapest: [{ flightId: cheap.id, price: { amount: 200, currency: "USD" } }],
    },
    { date: "2026-12-02", flightCount: 0, cheapest: null },
    {
      date: "2026-12-03",
      flightCount: 1,
      cheapest: [{ flightId: other.id, price: { amount: 499.5, currency: "USD" } }],
    },
  ]);
});

test("a calendar compares no prices in different currencies", async () => {
  const fields = (currency: string, priceMinor: number) => ({ currency, priceMinor });
  const yen = await leaving("SK1", "2026-12-01T12:00:00Z", fields("JPY", 900));
  const dollars = await leaving("SK2", "2026-12-01T13:00:00Z", fields("USD", 500));
  const dinars = await leaving("SK3", "2026-12-01T14:00:00Z", fields("KWD", 1_234));
  await leaving("SK4", "2026-12-01T15:00:00Z", fields("USD", 600));
  expect(await daysOf({ from: "2026-12-01", to: "2026-12-01" })).toEqual([
    {
      date: "2026-12-01",
      flightCount: 4,
      cheapest: [
        { flightId: yen.id, price: { amount: 900, currency: "JPY" } },
        { flightId: dinars.id, price: { amount: 1.234, currency: "KWD" } },
        { flightId: dollars.id, price: { amount: 5, currency: "USD" } },
      ],
    },
  ]);
});

/** What a search for the day says of it. */
async function searched(query: Query, departureDate: string) {
  const { from: _, to: _2, ...rest } = query;
  const found = await json(await get("", { ...rest, departureDate, limit: "100" }));
  const flights = itemsOf(found["flights"]);
  const amounts = flights.map(({ price }) => Number(at(price, "amount")));
  return {
    flightCount: found["totalResults"],
    cheapest: flights.length ? Math.min(...amounts) : null,
  };
}

test.each([
  // Sales have ended of the first flights.
  ["JFK", "2026-11-20", "2026-11-23"],
  // Clocks go forward and back, at night and at midnight, and twice within a month. A month and a year end.
  ["JFK", "2027-03-10", "2027-03-18"],
  ["JFK", "2027-11-04", "2027-11-10"],
  ["SCL", "2027-04-01", "2027-04-06"],
  ["SCL", "2027-09-02", "2027-09-08"],
  ["CMN", "2027-02-05", "2027-03-18"],
  ["AKL", "2026-12-28", "2027-01-03"],
])("a calendar agrees with a search for each day from %s, %s to %s", async (origin, from, to) => {
  const next = randomNumbers(Number(from.replaceAll("-", "")));
  const random = (below: number) => Math.floor(next() * below);
  const start = Date.parse(from) - 24 * hourMs;
  const hours = (Date.parse(to) - start) / hourMs + 48;
  for (let hour = 0; hour < hours; hour += hours < 300 ? 1 : 4) {
    await leaving(`SK${1_000 + hour}`, new Date(start + hour * hourMs - (hour % 2)).toISOString(), {
      origin,
      seats: 1 + random(3),
      priceMinor: 100 * random(50),
      cabinClass: random(2) === 0 ? "first" : "economy",
    });
  }
  for (const filters of [{}, { passengers: "2", cabinClass: "first" }]) {
    const query = { ...filters, origin, from, to };
    for (const { date, flightCount, cheapest } of await daysOf(query)) {
      const found = { flightCount, cheapest: at(cheapest, 0, "price", "amount") ?? null };
      expect({ date, ...found }).toEqual({ date, ...(await searched(query, String(date))) });
    }
  }
});

test.each([
  [{ origin: "QQQ" }, 3],
  [{ from: "1850-01-01", to: "1850-01-02" }, 2],
  // Samoa skipped the 30th.
  [{ origin: "APW", from: "2011-12-29", to: "2011-12-31" }, 3],
  [{ from: "2026-12-01", to: "2027-01-31" }, 62],
])("a calendar lists days without flights: %j", async (query, length) => {
  const days = await daysOf({ from: "2026-12-01", to: "2026-12-03", ...query });
  expect(days).toHaveLength(length);
  expect(days.every(({ flightCount, cheapest }) => flightCount === 0 && cheapest === null)).toBe(
    true,
  );
});

test.each([
  [{ from: "2026-12-01", to: "2027-02-01" }, ["to"]],
  [{ from: "2026-12-02", to: "2026-12-01" }, ["to"]],
  [{ from: "2026-02-30", to: "2026-12-01" }, ["from"]],
  [{ from: "2026-12-01" }, ["to"]],
  [{ from: "2026-12-01", to: "2026-12-02", destination: "jfk" }, ["destination"]],
  [{ from: "2026-12-01", to: "2026-12-02", limit: "1" }, ["limit"]],
  [
    { origin: "1", passengers: "0", cabinClass: "x" },
    ["origin", "from", "to", "passengers", "cabinClass"],
  ],
])("a calendar names every invalid parameter: %j", async (query, parameters) => {
  const { code, errors } = await jsonWith(await get("/calendar", query), 400);
  expect(code).toBe("invalid-parameter");
  expect(itemsOf(errors).map(({ parameter }) => parameter)).toEqual(parameters);
});

test("a calendar reads one day after the other, so that others take turns [API4-25]", async () => {
  const waiting: { answer: () => void }[] = [];
  const storage: Pick<Storage, "all"> = {
    all<Values extends object, Row>(_: unknown, _values: Values, pace?: string) {
      expect(pace).toBe("long");
      const { promise, resolve } = Promise.withResolvers<Row[]>();
      waiting.push({ answer: () => resolve([]) });
      return promise;
    },
  };
  const journey = { ...route, passengers: 1, cabinClass: null };
  const dates = ["2026-12-01", "2026-12-02", "2026-12-03"];
  const read = calendarOf(storage, journey, dates, new Date());
  for (const _ of dates) {
    expect(waiting).toHaveLength(1);
    waiting.pop()?.answer();
    await nextTurn();
  }
  expect((await read).days.map(({ date }) => date)).toEqual(dates);
});
