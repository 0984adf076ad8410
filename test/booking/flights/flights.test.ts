import { beforeEach, describe, expect, test } from "bun:test";

import type { FlightPlan } from "../../../src/booking/model/flight.ts";
import { json, jsonWith } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";
import { appPerTest } from "../../support/running-app.ts";

const path = "/v1/api/flights";
const hourMs = 3_600_000;

const app = appPerTest();

const asked = { origin: "JFK", destination: "LHR", departureDate: "2026-12-01" };
const searchFor = (query: Record<string, string> = {}) =>
  app.fetch(`${path}?${new URLSearchParams({ ...asked, ...query }).toString()}`);
const found = async (query: Record<string, string> = {}) => {
  const response = await searchFor(query);
  expect(response.status).toBe(200);
  return itemsOf((await json(response))["flights"]).map(({ flightNumber }) => flightNumber);
};
const leaving = (flightNumber: string, at: string, fields: Partial<FlightPlan> = {}) =>
  addFlight(app, { flightNumber, departureTime: new Date(at), ...fields });

describe("a search", () => {
  test("returns the specified fields", async () => {
    const { id } = await leaving("SK100", "2026-12-01T23:25:00Z");
    expect(await json(await searchFor())).toEqual({
      flights: [
        {
          id,
          flightNumber: "SK100",
          airline: "Skyhook Air",
          origin: "JFK",
          destination: "LHR",
          departureTime: "2026-12-01T23:25:00.000Z",
          arrivalTime: "2026-12-02T06:25:00.000Z",
          duration: "7h 00m",
          durationMinutes: 420,
          departureLocal: "2026-12-01T18:25:00-05:00",
          arrivalLocal: "2026-12-02T06:25:00+00:00",
          cabinClass: "economy",
          price: { amount: 499.5, currency: "USD" },
          seatsAvailable: 10,
          createdAt: new Date(app.clock.now()).toISOString(),
        },
      ],
      totalResults: 1,
      page: 1,
      pageSize: 20,
    });
  });

  test.each([
    ["2026-12-01", "24", "2026-12-01T05:00:00Z", "2026-12-02T04:59:00Z"],
    ["2027-03-14", "23", "2027-03-14T05:00:00Z", "2027-03-15T03:59:00Z"],
    ["2027-11-07", "25", "2027-11-07T04:00:00Z", "2027-11-08T04:59:00Z"],
  ])("covers exactly %s, a day of %s hours", async (departureDate, _, first, last) => {
    const near = (at: string, ms: number) => new Date(Date.parse(at) + ms).toISOString();
    await leaving("BEFORE", near(first, -1));
    await leaving("FIRST", first);
    await leaving("LAST", last);
    await leaving("AFTER", near(last, 60_000));
    expect(await found({ departureDate })).toEqual(["FIRST", "LAST"]);
  });

  test("covers the day at an origin far ahead of UTC", async () => {
    const there = { origin: "AKL", destination: "LAX" };
    await leaving("AKL1", "2026-11-30T11:00:00Z", there);
    await leaving("AKL2", "2026-12-01T10:59:00Z", there);
    await leaving("AKL3", "2026-12-01T11:00:00Z", there);
    expect(await found(there)).toEqual(["AKL1", "AKL2"]);
  });

  test("finds only flights with enough seats", async () => {
    const { id } = await leaving("SMALL", "2026-12-01T20:00:00Z", { seats: 3 });
    await leaving("LARGE", "2026-12-01T21:00:00Z", { seats: 9 });
    expect(await found({ passengers: "3" })).toEqual(["SMALL", "LARGE"]);
    expect(await found({ passengers: "4" })).toEqual(["LARGE"]);
    await app.as("user", "/v1/api/bookings", post(bookingBody(id, 3)));
    expect(await found()).toEqual(["LARGE"]);
    expect(await found({ passengers: "9" })).toEqual(["LARGE"]);
  });

  test("stops finding a flight in the same millisecond in which its sales end", async () => {
    const departure = app.clock.now() + 2 * hourMs;
    const { id } = await leaving("SOON", new Date(departure).toISOString());
    const today = { departureDate: "2026-11-21" };
    const book = async () =>
      (await app.as("user", "/v1/api/bookings", post(bookingBody(id)))).status;
    app.clock.advance(hourMs - 1);
    expect(await found(today)).toEqual(["SOON"]);
    expect(await book()).toBe(201);
    app.clock.advance(1);
    expect(await found(today)).toEqual([]);
    expect(await book()).toBe(422);
    // The flight can still be read.
    expect((await app.fetch(`${path}/${id}`)).status).toBe(200);
  });

  test("orders flights by departure, then by id", async () => {
    await leaving("LATE", "2026-12-01T22:00:00Z");
    await leaving("SAME1", "2026-12-01T20:00:00Z");
    await leaving("SAME2", "2026-12-01T20:00:00Z");
    await leaving("EARLY", "2026-12-01T19:00:00Z");
    expect(await found()).toEqual(["EARLY", "SAME1", "SAME2", "LATE"]);
  });

  test("filters by cabin", async () => {
    for (const cabinClass of ["economy", "business", "first"] as const) {
      await leaving(cabinClass, "2026-12-01T20:00:00Z", { cabinClass });
      expect(await found({ cabinClass })).toEqual([cabinClass]);
    }
    expect(await found()).toEqual(["economy", "business", "first"]);
  });

  test("accepts airport codes in any case", async () => {
    await leaving("SK100", "2026-12-01T20:00:00Z");
    expect(await found({ origin: "jfk", destination: "Lhr" })).toEqual(["SK100"]);
  });

  test.each([{ origin: "QQQ" }, { destination: "QQQ" }, { origin: "QQQ", destination: "XXQ" }])(
    "for an unknown airport is empty: %j",
    async (query) => {
      await leaving("SK100", "2026-12-01T20:00:00Z");
      const empty = { flights: [], totalResults: 0, page: 1, pageSize: 20 };
      expect(await json(await searchFor(query))).toEqual(empty);
    },
  );

  test("makes caches revalidate", async () => {
    expect((await searchFor()).headers.get("cache-control")).toBe("no-cache");
  });
});

describe("pages of a search", () => {
  const numbers = Array.from({ length: 25 }, (_, index) => `SK${100 + index}`);
  beforeEach(async () => {
    for (const [index, number] of numbers.entries()) {
      await leaving(number, new Date(Date.UTC(2026, 11, 1, 12, index)).toISOString());
    }
  });

  test("have no gaps or overlaps, and an exact total on each", async () => {
    const pages = await Promise.all(
      ["1", "2", "3"].map(async (page) => json(await searchFor({ page, limit: "10" }))),
    );
    const seen = pages.flatMap(({ flights }) =>
      itemsOf(flights).map((item) => item["flightNumber"]),
    );
    expect(seen).toEqual(numbers);
    for (const [index, page] of pages.entries()) {
      expect(page).toMatchObject({ totalResults: 25, page: index + 1, pageSize: 10 });
    }
  });

  test("link to the next and the previous page", async () => {
    const linksOf = async (query: Record<string, string>) => {
      const link = (await searchFor(query)).headers.get("link") ?? "";
      return [...link.matchAll(/<([^>]+)>; rel="(next|prev)"/g)].map(([, to, rel]) => [rel, to]);
    };
    const to = (page: number) =>
      `${path}?${new URLSearchParams({ ...asked, limit: "10", page: String(page) }).toString()}`;
    expect(await linksOf({ limit: "10" })).toEqual([["next", to(2)]]);
    expect(await linksOf({ limit: "10", page: "2" })).toEqual([
      ["next", to(3)],
      ["prev", to(1)],
    ]);
    expect(await linksOf({ limit: "10", page: "3" })).toEqual([["prev", to(2)]]);
    expect(await linksOf({ limit: "25" })).toEqual([]);
  });

  test("have 20 flights by default and 100 at most, and are empty beyond the end", async () => {
    expect(await found()).toEqual(numbers.slice(0, 20));
    expect(await json(await searchFor({ limit: "101" }))).toMatchObject({ pageSize: 100 });
    expect(await json(await searchFor({ limit: "99999999999999999999" }))).toMatchObject({
      pageSize: 100,
    });
    expect(await json(await searchFor({ page: "4" }))).toEqual({
      flights: [],
      totalResults: 25,
      page: 4,
      pageSize: 20,
    });
  });

  test("end at 10,000 flights", async () => {
    expect((await searchFor({ page: "500" })).status).toBe(200);
    expect(await jsonWith(await searchFor({ page: "501" }), 400)).toMatchObject({
      errors: [{ parameter: "page", code: "invalid-parameter" }],
    });
  });
});

describe("a search with an invalid parameter is 400 and names it", () => {
  const long = "A".repeat(3_000);
  const strange = [
    "",
    " ",
    "J\u0000K",
    long,
    ..."\u0000 \u001b[m ✈️✈️✈️ JF JFKX J1K ÄÖÜ".split(" "),
  ];
  const notWhole = ["", " ", long, ..."0 -1 1.5 1e3 one 0x1 +1 ١ \u0000 🧳 NaN".split(" ")];
  const table: Record<string, readonly string[]> = {
    origin: strange,
    destination: [...strange, "JFK", "jfk"],
    departureDate: [
      "",
      long,
      ..."2026-02-30 2026-13-01 2026-00-10 2027-02-29 2026-12-1 01.12.2026".split(" "),
      ..."2026-12-01T00:00:00Z tomorrow 20261201 +002026-12-01 2026-12-01\u0000 🗓️".split(" "),
      "2026-12-01[u-ca=hebrew]",
    ],
    passengers: [...notWhole, "10", "99999999999999999999"],
    cabinClass: ["", "Economy", "premium", "first ", "\u0000", "💺", long],
    page: notWhole,
    limit: notWhole,
  };
  const cases = Object.entries(table).flatMap(([name, values]) =>
    values.map((value) => [name, value.slice(0, 24), value] as const),
  );

  test.each(cases)("%s=%j", async (name, _, value) => {
    const response = await searchFor({ [name]: value });
    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const { code, errors } = await json(response);
    expect(code).toBe("invalid-parameter");
    expect(itemsOf(errors).map(({ parameter }) => parameter)).toEqual([name]);
  });

  test.each(Object.keys(asked))("%s missing", async (name) => {
    const query = new URLSearchParams(asked);
    query.delete(name);
    const response = await app.fetch(`${path}?${query.toString()}`);
    expect(await jsonWith(response, 400)).toMatchObject({ errors: [{ parameter: name }] });
  });

  test.each(Object.keys(table))("%s repeated", async (name) => {
    const query = new URLSearchParams({
      ...asked,
      passengers: "1",
      cabinClass: "first",
      page: "1",
    });
    query.set("limit", "5");
    query.append(name, query.get(name) ?? "");
    const response = await app.fetch(`${path}?${query.toString()}`);
    expect(await jsonWith(response, 400)).toMatchObject({ errors: [{ parameter: name }] });
  });

  test("all parameters invalid at once", async () => {
    const response = await app.fetch(`${path}?origin=1&passengers=0&cabinClass=x&page=0&limit=no`);
    const { errors } = await json(response);
    expect(itemsOf(errors).map(({ parameter }) => parameter)).toEqual([
      "origin",
      "destination",
      "departureDate",
      "passengers",
      "cabinClass",
      "page",
      "limit",
    ]);
  });

  test.each(["%", "%zz", "%ff%fe", "origin=%E0%A4%A", "&&&=", "%00=%00", "origin[]=JFK"])(
    "a malformed query string: ?%s",
    async (query) => {
      expect((await app.fetch(`${path}?${query}`)).status).toBe(400);
    },
  );
});

describe("a flight", () => {
  const read = (id: unknown, headers: Record<string, string> = {}, method = "GET") =>
    app.fetch(`${path}/${String(id)}`, { method, headers });

  test("has the same fields as in a search", async () => {
    const { id } = await leaving("SK100", "2026-12-01T20:00:00Z");
    const response = await read(id);
    expect(response.headers.get("content-type")).toStartWith("application/json");
    const { flights } = await json(await searchFor());
    expect(await json(response)).toEqual(itemsOf(flights)[0] ?? {});
  });

  test("can be read after departure and when it is full", async () => {
    const { id } = await leaving("SK100", "2026-12-01T20:00:00Z", { seats: 1 });
    await app.as("user", "/v1/api/bookings", post(bookingBody(id)));
    app.clock.advance(30 * 24 * hourMs);
    expect(await json(await read(id))).toMatchObject({ seatsAvailable: 0 });
  });

  test.each(["0", "-1", "999999999999999", "424242", "9".repeat(20), "9".repeat(400)])(
    "with the unknown id %s is 404",
    async (id) => {
      expect(await jsonWith(await read(id), 404)).toMatchObject({ code: "flight-not-found" });
    },
  );

  test.each(["x", "--1", "+1", "1.5", "1e3", "%00", "%20", "✈️", "0x1", "1;drop", "NaN"])(
    "with the non-numeric id %s is 400",
    async (id) => {
      expect(await jsonWith(await read(id), 400)).toMatchObject({ errors: [{ parameter: "id" }] });
    },
  );

  test("has an ETag, which changes when the flight changes", async () => {
    const { id } = await leaving("SK100", "2026-12-01T20:00:00Z");
    const first = await read(id);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-z]+"$/);
    expect(first.headers.get("cache-control")).toBe("no-cache");
    expect((await read(id)).headers.get("etag")).toBe(etag);
    await app.as("user", "/v1/api/bookings", post(bookingBody(id)));
    const changed = await read(id, { "if-none-match": etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(etag);
  });

  test.each([
    ["the ETag", (etag: string) => etag, 304],
    ["the ETag as a weak one", (etag: string) => `W/${etag}`, 304],
    ["a list with the ETag", (etag: string) => `"a", W/"b" ,${etag}`, 304],
    ["*", () => "*", 304],
    ["another ETag", () => '"other"', 200],
    ["the ETag without quotes", (etag: string) => etag.replaceAll('"', ""), 200],
    ["an empty value", () => "", 200],
  ])("compares If-None-Match: %s", async (_, header, status) => {
    const { id } = await leaving("SK100", "2026-12-01T20:00:00Z");
    const etag = (await read(id)).headers.get("etag") ?? "";
    for (const method of ["GET", "HEAD"]) {
      const response = await read(id, { "if-none-match": header(etag) }, method);
      expect(response.status).toBe(status);
      expect(response.headers.get("etag")).toBe(etag);
      expect(response.headers.get("x-request-id")).toBeString();
      const isEmpty = status === 304 || method === "HEAD";
      expect((await response.text()) === "").toBe(isEmpty);
    }
  });

  test("that does not exist is 404 despite If-None-Match", async () => {
    expect((await read(424_242, { "if-none-match": "*" })).status).toBe(404);
  });
});
