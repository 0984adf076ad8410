import { describe, expect, test } from "bun:test";

import { AppError } from "../../../../src/base/errors.ts";
import { endOutdatedOffers } from "../../../../src/booking/changes/ended-offers.ts";
import { flightByKey } from "../../../../src/booking/flights/import/import-flights.sql.ts";
import { importFlights } from "../../../../src/booking/flights/import/import-flights.ts";
import type { FlightPlan } from "../../../../src/booking/model/flight.ts";
import { json, jsonWith, until } from "../../../support/app.ts";
import { bookingCalls, eventsAbout } from "../../../support/bookings.ts";
import { manualClock } from "../../../support/clock.ts";
import { failure } from "../../../support/failure.ts";
import { addFlight, flightPlan } from "../../../support/flights.ts";
import { listed } from "../../../support/operator.ts";
import { appForAll } from "../../../support/running-app.ts";

const app = appForAll();
const { book } = bookingCalls(app);
const hourMs = 3_600_000;

/** A line about the flight in 30 days, so many hours later. `from`: where it departs so far. */
interface Line {
  readonly at?: number;
  readonly from?: number;
  readonly isCancelled?: true;
  readonly plan?: Partial<FlightPlan>;
}

const now = manualClock().now();
const leaves = (hours: number) => new Date(now + (30 * 24 + hours) * hourMs);
const planAt = (flightNumber: string, hours = 0, plan: Partial<FlightPlan> = {}) =>
  flightPlan(app, { flightNumber, departureTime: leaves(hours), ...plan });

const imported = (flightNumber: string, lines: readonly Line[], options = {}) =>
  importFlights(
    { storage: app.services.storage, endOutdated: endOutdatedOffers },
    lines.map(({ at = 0, from, isCancelled, plan }, index) => ({
      line: index + 2,
      plan: planAt(flightNumber, at, plan),
      ...(from !== undefined && { previousDepartureTime: leaves(from) }),
      ...(isCancelled && { isCancelled }),
    })),
    new Date(app.clock.now()),
    options,
  );

/** The flights by the hour of their departure: `a` and `b` are those in `ids`, a cancelled one has a minus. */
async function departures(flightNumber: string, ids: readonly number[]) {
  const hours = Array.from({ length: 60 }, (_, index) => index - 30);
  const found = await Promise.all(
    hours.map(async (hour) => {
      const key = planAt(flightNumber, hour);
      const [flight] = await app.services.storage.all(flightByKey, key);
      if (flight === undefined) return [];
      const name = ["a", "b"][ids.indexOf(flight.id)] ?? "new";
      return [[hour, `${flight.cancelledAt ? "-" : ""}${name}`] as const];
    }),
  );
  return Object.fromEntries(found.flat());
}

let number = 0;
/** A new flight number with flights at these hours, each with one booking. */
async function booked(...hours: readonly number[]) {
  number += 1;
  const flightNumber = `IM${number}`;
  const ids: number[] = [];
  for (const hour of hours) {
    const { id } = await addFlight(app, planAt(flightNumber, hour));
    await jsonWith(await book(id, 2), 201);
    ids.push(id);
  }
  return { flightNumber, ids };
}

const stay = { 0: "a", 24: "b" };
const nothing = { changed: 0, cancelled: 0, warnings: [] };

describe("an import that changes flights with bookings", () => {
  test.each<[string, Line[], object, Record<number, string>]>([
    ["moves one", [{ at: 2, from: 0 }], { changed: 1 }, { 2: "a", 24: "b" }],
    ["cancels one", [{ isCancelled: true }], { cancelled: 1 }, { 0: "-a", 24: "b" }],
    ["changes an arrival", [{ plan: { arrivalTime: leaves(9) } }], { changed: 1 }, stay],
    ["changes an airport", [{ plan: { destination: "LGW" } }], { changed: 1 }, stay],
    ["changes a price only", [{ plan: { priceMinor: 1 } }], {}, stay],
    [
      "moves a daily flight by a day, in any order of lines",
      [
        { at: 24, from: 0 },
        { at: 28, from: 24 },
      ],
      { changed: 2 },
      { 24: "a", 28: "b" },
    ],
    [
      "moves a daily flight a day earlier",
      [
        { at: 0, from: 24 },
        { at: -24, from: 0 },
      ],
      { changed: 2 },
      { [-24]: "a", 0: "b" },
    ],
    [
      "moves one and adds another in its place",
      [{ at: 0 }, { at: 3, from: 0 }],
      { changed: 1 },
      { 0: "new", 3: "a", 24: "b" },
    ],
  ])("%s, and nothing twice", async (_, lines, counts, expected) => {
    const { flightNumber, ids } = await booked(0, 24);
    expect(await imported(flightNumber, lines)).toEqual({ skipped: [], ...nothing, ...counts });
    expect(await departures(flightNumber, ids)).toEqual(expected);
    expect(await imported(flightNumber, lines)).toEqual({ skipped: [], ...nothing });
    expect(await departures(flightNumber, ids)).toEqual(expected);
  });

  test.each<[string, Line, string]>([
    ["moves no flight", { at: 2, from: 1 }, "IM of 1: there is no such flight"],
    ["cancels no flight", { at: 1, isCancelled: true }, "IM of 1: there is no such flight"],
    ["moves a flight to another", { at: 24, from: 0 }, "IM of 24: there is another flight"],
    ["moves a departed flight", { at: 5, from: -800 }, "IM of -800: the flight has departed"],
    ["cancels one", { at: -800, isCancelled: true }, "IM of -800: the flight has departed"],
    ["moves a flight to the past", { at: -721, from: 0 }, "IM of -721: a flight cannot be moved"],
    ["moves a cancelled flight", { at: 5, from: 48 }, "IM of 48: the flight is cancelled"],
  ])("rejects a line that %s, and imports nothing or the others", async (_, line, reason) => {
    const { flightNumber, ids } = await booked(0, 24);
    await addFlight(app, planAt(flightNumber, -800));
    await addFlight(app, planAt(flightNumber, 48));
    await imported(flightNumber, [{ at: 48, isCancelled: true }]);
    const lines: Line[] = [{ at: 7 }, line];
    const detail = reason.replace(/^IM of (-?\d+)/, (_match, hour: string) => {
      return `${flightNumber} of ${leaves(Number(hour)).toISOString()}, economy`;
    });
    const before = await departures(flightNumber, ids);
    const error = await failure(imported(flightNumber, lines));
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: "validation-failed" });
    expect(error instanceof AppError && error.detail).toStartWith(`line 3: ${detail}`);
    expect(error instanceof AppError && error.detail).toEndWith("skip it with --skip-bad");
    expect(await departures(flightNumber, ids)).toEqual(before);

    const skipped = await imported(flightNumber, lines, { skipBad: true });
    expect(skipped).toMatchObject({ ...nothing, skipped: [{ line: 3 }] });
    expect(skipped.skipped[0]?.error).toStartWith(detail);
    expect(await departures(flightNumber, ids)).toEqual({ ...before, 7: "new" });
  });
});

test.each<[string, Line]>([
  ["in its place", { plan: { seats: 1 } }],
  ["moved too", { at: 2, from: 0, plan: { seats: 1 } }],
])(
  "an aircraft with fewer seats than are sold sells no more, %s, and is notified once",
  async (_, line) => {
    const { flightNumber, ids } = await booked(0);
    const [id = 0] = ids;
    await jsonWith(await book(id, 1), 201);
    const { skipped } = await imported(flightNumber, [line]);
    await imported(flightNumber, [line]);
    expect(skipped).toEqual([]);
    const seatsLeft = async () =>
      (await json(await app.fetch(`/v1/api/flights/${id}`)))["seatsAvailable"];
    expect(await seatsLeft()).toBe(0);
    expect(await jsonWith(await book(id), 409)).toMatchObject({ seatsAvailable: 0 });
    const oversold = async () =>
      (await eventsAbout(app, `flight/${id}`)).filter(({ type }) => type === "flight.oversold");
    expect(await oversold()).toMatchObject([{ data: { seats: 1, oversold: 2 } }]);

    const bookings = await listed(app, `/v1/api/bookings?flight=${flightNumber}`, "admin");
    for (const [index, { bookingId }] of bookings.entries()) {
      const path = `/v1/api/bookings/${String(bookingId)}`;
      expect((await app.as("admin", path, { method: "DELETE" })).status).toBe(200);
      expect(await seatsLeft()).toBe(index === bookings.length - 1 ? 1 : 0);
    }
    await jsonWith(await book(id), 201);
    await jsonWith(await book(id), 409);
  },
);

test("an import warns of cabins that stay when others of their departure do not", async () => {
  const { flightNumber } = await booked(0, 24);
  const business = { cabinClass: "business" } as const;
  const [first, second] = [0, 24].map((hour) => leaves(hour).toISOString());
  await imported(flightNumber, [{ plan: business }, { at: 24, plan: business }]);
  const { warnings } = await imported(flightNumber, [
    { at: 2, from: 0 },
    { at: 24, isCancelled: true },
  ]);
  expect(warnings).toEqual([
    `${flightNumber} of ${second}: economy is cancelled, but business stays`,
    `${flightNumber} of ${first}: economy is moved, but business stays`,
  ]);
  const rest = [
    { at: 2, from: 0, plan: business },
    { at: 24, plan: business, isCancelled: true as const },
  ];
  expect((await imported(flightNumber, rest)).warnings).toEqual([]);
});

describe("an import of several transactions", () => {
  const many: readonly Line[] = Array.from({ length: 450 }, (_, index) => ({ at: 100 + index }));

  async function countOf(flightNumber: string): Promise<number> {
    const found = many.map(({ at }) =>
      app.services.storage.all(flightByKey, planAt(flightNumber, at ?? 0)),
    );
    return (await Promise.all(found)).flat().length;
  }

  /** Does something once, after the first transaction. */
  function afterFirst(what: () => Promise<unknown>) {
    let isDone = false;
    return async () => {
      if (isDone) return;
      isDone = true;
      await what();
    };
  }

  test.each<[string, Line]>([
    ["moves a flight to the past", { at: -721, from: 0 }],
    ["cancels no flight", { at: 1, isCancelled: true }],
  ])("writes nothing if its last line %s and is bad", async (_, line) => {
    const { flightNumber } = await booked(0);
    const error = await failure(imported(flightNumber, [...many, line]));
    expect(error).toMatchObject({ code: "validation-failed" });
    expect(error instanceof AppError && error.detail).toStartWith("line 452: ");
    expect(await countOf(flightNumber)).toBe(0);
  });

  test.each([1, 2, 3])("is completed by the same file after %d of them", async (steps) => {
    const { flightNumber, ids } = await booked(0, 10, 20);
    const lines = [
      ...many,
      { at: 20, isCancelled: true } as const,
      { at: 10, from: 0 },
      { at: 15, from: 10 },
    ];
    let left = steps;
    const afterStep = async () => {
      left -= 1;
      if (left === 0) throw new Error("The power failed");
    };
    expect(String(await failure(imported(flightNumber, lines, { afterStep })))).toContain("power");
    expect(await countOf(flightNumber)).toBeGreaterThan(0);
    await imported(flightNumber, lines);
    expect(await countOf(flightNumber)).toBe(450);
    expect(await departures(flightNumber, ids)).toEqual({ 10: "a", 15: "b", 20: "-new" });
    expect(await imported(flightNumber, lines)).toEqual({ skipped: [], ...nothing });
    const once = ids.map((id) => `flight/${id}`).toSorted();
    const events = async () => {
      app.clock.advance(1_000);
      const path = "/v1/events?provider=bookings&limit=100&type=";
      const found = ["flight.changed", "flight.cancelled"].map(async (type) =>
        listed(app, path + type),
      );
      return (await Promise.all(found))
        .flat()
        .map(({ subject }) => String(subject))
        .filter((subject) => once.includes(subject))
        .toSorted();
    };
    await until(async () => (await events()).length >= once.length);
    expect(await events()).toEqual(once);
  });

  test("continues moves of which each needs the one before", async () => {
    number += 1;
    const flightNumber = `IM${number}`;
    await imported(flightNumber, many);
    const lines = many.map(({ at = 0 }) => ({ at: at + 1, from: at }));
    const afterStep = afterFirst(() => Promise.reject(new Error("The power failed")));
    await failure(imported(flightNumber, lines, { afterStep }));
    const { changed } = await imported(flightNumber, lines);
    expect([changed > 0 && changed < 450, await countOf(flightNumber)]).toEqual([true, 449]);
    expect(await imported(flightNumber, lines)).toEqual({ skipped: [], ...nothing });
  });

  test("accepts fewer seats than are sold meanwhile", async () => {
    const { flightNumber, ids } = await booked(0);
    await imported(flightNumber, many);
    const lines = [...many, { at: 0, plan: { seats: 3 } }];
    const afterStep = afterFirst(async () => jsonWith(await book(ids[0] ?? 0, 2), 201));
    expect(await imported(flightNumber, lines, { afterStep })).toEqual({ skipped: [], ...nothing });
    expect(await eventsAbout(app, `flight/${ids[0]}`)).toMatchObject([
      { type: "flight.oversold", data: { seats: 3, oversold: 1 } },
    ]);
    const withSeverity = () => listed(app, `/v1/events?severity=info&subject=flight/${ids[0]}`);
    // The event is indexed before it has a notification.
    expect(await withSeverity()).toEqual([]);
    await until(async () => {
      app.clock.advance(1_000);
      return (await withSeverity()).length === 1;
    });
    expect(await countOf(flightNumber)).toBe(450);
  });

  test.each([1, 0])(
    "has %d events about another arrival, if as many bookings are made meanwhile",
    async (bookings) => {
      const { flightNumber } = await booked();
      const { id } = await addFlight(app, planAt(flightNumber));
      await imported(flightNumber, many);
      const lines = [...many, { plan: { arrivalTime: leaves(9) } }];
      const afterStep = afterFirst(async () => bookings > 0 && jsonWith(await book(id), 201));
      expect(await imported(flightNumber, lines, { afterStep })).toMatchObject({ changed: 1 });
      expect(await eventsAbout(app, `flight/${id}`)).toHaveLength(bookings);
    },
  );

  test("moves no flight twice that another import moves meanwhile", async () => {
    const { flightNumber, ids } = await booked(0, 100);
    await imported(flightNumber, many);
    const lines = [
      ...many.map((line) => ({ ...line, isCancelled: true as const })),
      { at: 2, from: 0 },
    ];
    const afterStep = afterFirst(() => imported(flightNumber, [{ at: 2, from: 0 }]));
    expect(await imported(flightNumber, lines, { afterStep })).toEqual({
      skipped: [],
      ...nothing,
      cancelled: 450,
    });
    expect(await departures(flightNumber, ids)).toEqual({ 2: "a" });
  });
});

test("a cancelled flight is for sale no more, in no search, and says so", async () => {
  const { flightNumber, ids } = await booked(0);
  const [id = 0] = ids;
  const path = `/v1/api/flights/${id}`;
  expect(await json(await app.fetch(path))).not.toHaveProperty("cancelledAt");
  await imported(flightNumber, [{ isCancelled: true }]);
  // A file that still has it does not put it back on sale.
  expect(await imported(flightNumber, [{}])).toEqual({ skipped: [], ...nothing });
  const cancelledAt = new Date(app.clock.now()).toISOString();
  expect(await json(await app.fetch(path))).toMatchObject({ cancelledAt });
  const day = leaves(0).toISOString().slice(0, 10);
  const search = `/v1/api/flights?origin=JFK&destination=LHR&departureDate=${day}&limit=100`;
  expect(await (await app.fetch(search)).text()).not.toContain(flightNumber);
  expect(await jsonWith(await book(id), 422)).toMatchObject({
    code: "booking-closed",
    detail: "The airline cancelled this flight",
  });
});
