import { describe, expect, test } from "bun:test";

import { moneyOf } from "../../../src/base/money.ts";
import type { FlightPlan } from "../../../src/booking/flight.ts";
import { airport, localTime } from "../../../src/booking/flights/airports.ts";
import { readFlightPlan } from "../../../src/booking/flights/flight-plan.ts";
import { demoSchedule } from "../../../src/booking/flights/schedule.ts";

// Clocks change in Europe on 25 October, in North America on 1 November 2026.
const from = new Date("2026-10-10T12:00:00Z");
const plans = [...demoSchedule(from, 60, 7)];
const day = 24 * 3_600_000;

function clockAt(code: string, time: Date): string {
  const place = airport(code);
  if (place === undefined) throw new Error(`No airport ${code}`);
  return localTime(place, time).slice(11, 16);
}
const keyOf = (plan: FlightPlan) =>
  [plan.flightNumber, plan.departureTime.toISOString(), plan.cabinClass].join(" ");
const minutesOf = (plan: FlightPlan) =>
  (plan.arrivalTime.getTime() - plan.departureTime.getTime()) / 60_000;

describe("the demo's timetable", () => {
  test("has a few thousand flights between about 25 airports", () => {
    expect(plans.length).toBeGreaterThan(3_000);
    expect(plans.length).toBeLessThan(9_000);
    const places = new Set(plans.flatMap(({ origin, destination }) => [origin, destination]));
    expect(places.size).toBeGreaterThanOrEqual(23);
    expect(new Set(plans.map(keyOf)).size).toBe(plans.length);
  });

  test("holds valid flight plans for an import", () => {
    for (const plan of plans) {
      const { priceMinor, ...written } = plan;
      const { amount } = moneyOf(priceMinor, plan.currency);
      const [departureTime, arrivalTime] = [plan.departureTime, plan.arrivalTime].map((time) =>
        time.toISOString(),
      );
      const row = { ...written, departureTime, arrivalTime, price: amount };
      expect(readFlightPlan(new Map(Object.entries(row)))).toEqual(plan);
    }
  });

  test("flies JFK to LHR every day, in every cabin", () => {
    const flights = plans.filter((plan) => plan.origin === "JFK" && plan.destination === "LHR");
    for (const cabinClass of ["economy", "business", "first"]) {
      const evening = flights.filter(
        (plan) => plan.flightNumber === "N4001" && plan.cabinClass === cabinClass,
      );
      expect(evening).toHaveLength(60);
      expect(new Set(evening.map((plan) => clockAt("JFK", plan.departureTime)))).toEqual(
        new Set(["18:25"]),
      );
      // The period includes the end of daylight saving time.
      expect(new Set(evening.map((plan) => plan.departureTime.getUTCHours())).size).toBe(2);
    }
  });

  test("starts at the requested time and ends with the last day", () => {
    const times = plans.map((plan) => plan.departureTime.getTime());
    expect(Math.min(...times)).toBeGreaterThanOrEqual(from.getTime());
    expect(Math.max(...times)).toBeLessThan(from.getTime() + 60 * day);
    expect([...demoSchedule(from, 0, 7)]).toEqual([]);
  });

  test("depends on the seed only", () => {
    expect([...demoSchedule(from, 60, 7)]).toEqual(plans);
    expect([...demoSchedule(from, 60, 8)]).not.toEqual(plans);
  });

  test("has the same flights on a day, whenever it starts", () => {
    const tomorrow = new Date(from.getTime() + day);
    const later = new Map([...demoSchedule(tomorrow, 60, 7)].map((plan) => [keyOf(plan), plan]));
    const shared = plans.filter((plan) => plan.departureTime >= tomorrow);
    expect(shared.length).toBeGreaterThan(3_000);
    expect(shared.map((plan) => later.get(keyOf(plan)))).toEqual(shared);
  });

  test("keeps local departure times when clocks change", () => {
    const clocks = Map.groupBy(plans, (plan) => plan.flightNumber);
    for (const [, flights] of clocks) {
      const times = flights.map((plan) => clockAt(plan.origin, plan.departureTime));
      expect(new Set(times).size).toBe(1);
    }
  });

  test("has departures and arrivals at realistic hours", () => {
    for (const { origin, destination, departureTime, arrivalTime } of plans) {
      expect(clockAt(origin, departureTime) >= "06:00").toBe(true);
      expect(clockAt(destination, arrivalTime) >= "04:30").toBe(true);
    }
  });

  test.each([
    ["JFK", "LHR", 390, 430],
    ["LHR", "JFK", 435, 490],
    ["LHR", "CDG", 60, 90],
    ["DEL", "KTM", 80, 120],
    ["SYD", "LAX", 790, 870],
    ["LAX", "SYD", 870, 960],
    ["SIN", "LHR", 800, 890],
  ])("has a realistic duration from %s to %s", (origin, destination, least, most) => {
    const flight = plans.find((plan) => plan.origin === origin && plan.destination === destination);
    const minutes = flight === undefined ? 0 : minutesOf(flight);
    expect(minutes).toBeGreaterThanOrEqual(least);
    expect(minutes).toBeLessThanOrEqual(most);
  });

  test("has prices in the origin's currency, and fewer, more expensive seats in better cabins", () => {
    expect(plans.filter((plan) => plan.origin === "NRT")).not.toHaveLength(0);
    const currencyAt = (code: string) =>
      new Set(plans.filter((plan) => plan.origin === code).map((plan) => plan.currency));
    expect(currencyAt("NRT")).toEqual(new Set(["JPY"]));
    expect(currencyAt("KWI")).toEqual(new Set(["KWD"]));
    expect(currencyAt("CDG")).toEqual(new Set(["EUR"]));
    for (const [, cabins] of Map.groupBy(plans, (plan) => keyOf(plan).replace(/ \w+$/, ""))) {
      const seats = cabins.map((plan) => plan.seats);
      const prices = cabins.map((plan) => plan.priceMinor);
      expect(seats).toEqual(seats.toSorted((one, other) => other - one));
      expect(prices).toEqual(prices.toSorted((one, other) => one - other));
      expect(cabins.length).toBeGreaterThanOrEqual(2);
    }
  });
});
