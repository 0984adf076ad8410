import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import {
  type Airport,
  airport,
  localDay,
  localTime,
} from "../../../src/booking/flights/airports.ts";
import table from "../../../src/booking/flights/airports.tsv" with { type: "text" };
import { flightView } from "../../../src/booking/flights/flight-view.ts";
import type { Flight } from "../../../src/booking/model/flight.ts";
import { forAll } from "../../support/runs.ts";

function known(code: string): Airport {
  const found = airport(code);
  if (found === undefined) throw new Error(`No airport ${code}`);
  return found;
}
const codes = table
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line) => line.slice(0, 3));
const hour = 3_600_000;

describe("the table of airports", () => {
  test("has each airport once, with an existing time zone", () => {
    expect(codes.length).toBeGreaterThan(3_000);
    expect(new Set(codes).size).toBe(codes.length);
    const incomplete = codes
      .map(known)
      .filter(({ zone }) => new Temporal.ZonedDateTime(0n, zone).timeZoneId !== zone);
    expect(incomplete).toEqual([]);
  });

  test("finds upper-case codes only", () => {
    expect(airport("jfk")).toBeUndefined();
    expect(airport("QQQ")).toBeUndefined();
    expect(airport("iata")).toBeUndefined();
    expect(airport("")).toBeUndefined();
  });

  test.each([
    ["JFK", "America/New_York", "2026-11-30T19:00:00-05:00"],
    ["LHR", "Europe/London", "2026-12-01T00:00:00+00:00"],
    ["NRT", "Asia/Tokyo", "2026-12-01T09:00:00+09:00"],
    ["SYD", "Australia/Sydney", "2026-12-01T11:00:00+11:00"],
    ["KTM", "Asia/Kathmandu", "2026-12-01T05:45:00+05:45"],
    ["LAX", "America/Los_Angeles", "2026-11-30T16:00:00-08:00"],
    ["DXB", "Asia/Dubai", "2026-12-01T04:00:00+04:00"],
    ["GRU", "America/Sao_Paulo", "2026-11-30T21:00:00-03:00"],
    ["JNB", "Africa/Johannesburg", "2026-12-01T02:00:00+02:00"],
    ["AKL", "Pacific/Auckland", "2026-12-01T13:00:00+13:00"],
    ["SIN", "Asia/Singapore", "2026-12-01T08:00:00+08:00"],
    ["CDG", "Europe/Paris", "2026-12-01T01:00:00+01:00"],
    ["FRA", "Europe/Berlin", "2026-12-01T01:00:00+01:00"],
    ["ORD", "America/Chicago", "2026-11-30T18:00:00-06:00"],
    ["HNL", "Pacific/Honolulu", "2026-11-30T14:00:00-10:00"],
    ["LPB", "America/La_Paz", "2026-11-30T20:00:00-04:00"],
    // Airports for which the zone look-up alone returns the wrong country or the wrong side of a state line.
    ["BAH", "Asia/Bahrain", "2026-12-01T03:00:00+03:00"],
    ["XWA", "America/Chicago", "2026-11-30T18:00:00-06:00"],
    ["URC", "Asia/Shanghai", "2026-12-01T08:00:00+08:00"],
    ["CHT", "Pacific/Chatham", "2026-12-01T13:45:00+13:45"],
  ])("has the local time of %s", (code, zone, clock) => {
    expect(known(code)).toEqual({ iata: code, zone });
    expect(localTime(known(code), new Date("2026-12-01T00:00:00.999Z"))).toBe(clock);
  });
});

describe("a day at an airport", () => {
  test.each([
    ["of 24 hours", "JFK", "2026-12-01", "2026-12-01T05:00:00Z", 24],
    ["of 23 hours", "JFK", "2026-03-08", "2026-03-08T05:00:00Z", 23],
    ["of 25 hours", "JFK", "2026-11-01", "2026-11-01T04:00:00Z", 25],
    ["that starts at 01:00", "SCL", "2026-09-06", "2026-09-06T04:00:00Z", 23],
    ["that starts at 01:00, ahead of UTC", "CAI", "2026-04-24", "2026-04-23T22:00:00Z", 23],
    ["that has midnight twice", "HAV", "2024-11-03", "2024-11-03T04:00:00Z", 25],
    ["with an offset of 05:45", "KTM", "2026-12-01", "2026-11-30T18:15:00Z", 24],
    ["far ahead of UTC", "AKL", "2026-12-01", "2026-11-30T11:00:00Z", 24],
    ["on 29 February", "LHR", "2028-02-29", "2028-02-29T00:00:00Z", 24],
    ["at the end of the supported years", "LHR", "2100-12-31", "2100-12-31T00:00:00Z", 24],
  ])("%s: %s %s", (_, code, day, from, hours) => {
    const to = new Date(Date.parse(from) + hours * hour);
    expect(localDay(known(code), day)).toEqual({ from: new Date(from), to });
  });

  test.each([
    "",
    " 2026-12-01",
    "2026-12-01\n",
    ..."2026-02-30 2026-13-01 2026-00-10 2026-1-1 2026-12-01T00:00 2026-12-01Z 20261201".split(" "),
    ..."+002026-12-01 1999-12-31 2101-01-01 2100-02-29 today".split(" "),
  ])("is null for %j", (day) => {
    expect(localDay(known("JFK"), day)).toBeNull();
  });

  test("is null if the time zone skipped it", () => {
    expect(localDay(known("APW"), "2011-12-30")).toBeNull();
  });

  test("begins where the previous day ends, and covers its own date only", () => {
    const days = fc.date({
      min: new Date("2000-01-02"),
      max: new Date("2100-12-31"),
      noInvalidDate: true,
    });
    forAll(1_000, [fc.constantFrom(...codes), days], (code, date) => {
      const place = known(code);
      const [day, before] = [dayOf(date), dayOf(new Date(date.getTime() - 24 * hour))];
      const range = localDay(place, day);
      fc.pre(range !== null && localDay(place, before) !== null);
      if (range === null) return;
      expect(localDay(place, before)?.to).toEqual(range.from);
      expect(localTime(place, range.from).slice(0, 10)).toBe(day);
      expect(localTime(place, new Date(range.to.getTime() - 1)).slice(0, 10)).toBe(day);
    });
  });
});

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

describe("the view of a flight", () => {
  const flight: Flight = {
    id: 7,
    flightNumber: "N4101",
    airline: "Northlight Airways",
    origin: "JFK",
    destination: "LHR",
    departureTime: new Date("2026-12-01T23:25:00Z"),
    arrivalTime: new Date("2026-12-02T06:30:00Z"),
    cabinClass: "economy",
    seats: 216,
    seatsAvailable: 9,
    priceMinor: 41_250,
    currency: "USD",
    cancelledAt: null,
    oversold: 0,
    revision: 0,
    lastChange: null,
    createdAt: new Date("2026-11-21T09:12:44.120Z"),
  };

  test.each([
    [45, "0h 45m"],
    [425, "7h 05m"],
    [1_050, "17h 30m"],
    [1_440, "24h 00m"],
  ])("shows %d minutes as %s", (minutes, duration) => {
    const arrivalTime = new Date(flight.departureTime.getTime() + minutes * 60_000);
    expect(flightView({ ...flight, arrivalTime })).toMatchObject({
      duration,
      durationMinutes: minutes,
    });
  });

  test("shows UTC for an airport that is no longer in the table", () => {
    const { departureLocal } = flightView({ ...flight, origin: "QQQ" });
    expect(departureLocal).toBe("2026-12-01T23:25:00+00:00");
  });
});
