import { afterEach, describe, expect, test } from "bun:test";

import { confirmHold, expireHold } from "../../../src/booking/model/bookings.sql.ts";
import { deleteHold } from "../../../src/booking/seats/seat-holds.sql.ts";
import { write } from "../../../src/db/statement.ts";
import { json, jsonWith } from "../../support/app.ts";
import { bookingsPath as path, eventsAbout, expire, untilStatus } from "../../support/bookings.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";
import { expectHolds } from "../../support/holds.ts";
import { appForAll } from "../../support/running-app.ts";

const minuteMs = 60_000;
const holdMs = 20 * minuteMs;

const app = appForAll();
afterEach(() => expectHolds(app));

const held = (flightId: number, passengers = 1) => ({
  ...bookingBody(flightId, passengers),
  hold: true,
});

async function hold(flightId: number, bearer?: string): Promise<Record<string, unknown>> {
  return jsonWith(await app.as("user", path, post(held(flightId)), bearer), 201);
}

async function read(id: unknown, bearer?: string): Promise<Record<string, unknown>> {
  return json(await app.as("user", `${path}/${String(id)}`, {}, bearer));
}

const eventsOf = async (id: unknown) =>
  (await eventsAbout(app, `booking/${String(id)}`)).map(({ type }) => type);

const fieldsOfBooking =
  "bookingId status totalPrice currency confirmationSentTo createdAt reference".split(" ");

describe("a hold", () => {
  test("takes seats at a frozen price until it expires", async () => {
    const flight = await addFlight(app, { flightNumber: "HD1" });
    const body = await jsonWith(await app.as("user", path, post(held(flight.id, 2))), 201);
    expect(Object.keys(body)).toEqual([...fieldsOfBooking, "expiresAt"]);
    const expiresAt = new Date(app.clock.now() + holdMs).toISOString();
    expect(body).toMatchObject({ status: "held", totalPrice: 999, expiresAt });
    expect(await seatsLeft(app, flight.id)).toBe(8);
    expect(await read(body["bookingId"])).toMatchObject({ status: "held", expiresAt });
    expect(await eventsOf(body["bookingId"])).toEqual(["booking.held"]);
  });

  test.each([[undefined], [false], [null]])("is not made by hold: %p", async (value) => {
    const flight = await addFlight(app, { flightNumber: `HD2${String(value)}` });
    // JSON has no undefined.
    const request = post({ ...bookingBody(flight.id), hold: value });
    const body = await json(await app.as("user", path, request));
    expect(Object.keys(body)).toEqual(fieldsOfBooking);
    expect(body["status"]).toBe("confirmed");
    expect(await read(body["bookingId"])).not.toHaveProperty("expiresAt");
  });

  test.each([["yes"], [1]])("is refused for hold: %p", async (value) => {
    const response = await app.as("user", path, post({ ...bookingBody(1), hold: value }));
    expect(await jsonWith(response, 400)).toMatchObject({
      code: "invalid-body",
      errors: [expect.objectContaining({ pointer: "/hold" })],
    });
  });

  test("ends when sales end, if that is earlier", async () => {
    const departureTime = new Date(app.clock.now() + 70 * minuteMs);
    const flight = await addFlight(app, { flightNumber: "HD3", departureTime });
    const expiresAt = new Date(app.clock.now() + 10 * minuteMs).toISOString();
    expect(await hold(flight.id)).toMatchObject({ expiresAt });
  });

  test("is limited to three per user and flight", async () => {
    const flight = await addFlight(app, { flightNumber: "HD4" });
    const made = [await hold(flight.id), await hold(flight.id), await hold(flight.id)];
    expect(await jsonWith(await app.as("user", path, post(held(flight.id))), 422)).toMatchObject({
      code: "validation-failed",
      errors: [expect.objectContaining({ pointer: "/hold" })],
    });
    expect(await seatsLeft(app, flight.id)).toBe(7);
    await hold(flight.id, "another user");
    await app.as("user", `${path}/${String(made[0]?.["bookingId"])}`, { method: "DELETE" });
    await hold(flight.id);
  });
});

test("cancelling a hold releases the seats, and nothing is refunded", async () => {
  const flight = await addFlight(app, { flightNumber: "HC1" });
  const { bookingId } = await hold(flight.id);
  const quote = await json(await app.as("user", `${path}/${String(bookingId)}/cancellation`));
  expect(quote["refund"]).toMatchObject({ amount: 0, fee: 0 });
  for (const _ of ["first", "again"]) {
    const response = await app.as("user", `${path}/${String(bookingId)}`, { method: "DELETE" });
    expect(await jsonWith(response, 200)).toMatchObject({
      status: "cancelled",
      refund: { amount: 0, fee: 0, reason: "Nothing was paid" },
    });
    expect(await seatsLeft(app, flight.id)).toBe(10);
  }
  expect(await eventsOf(bookingId)).toEqual(["booking.held", "booking.cancelled"]);
});

describe("expiry", () => {
  test("releases the seats once", async () => {
    const flight = await addFlight(app, { flightNumber: "HE1" });
    const { bookingId } = await hold(flight.id);
    app.clock.advance(holdMs - 1);
    expect(await read(bookingId)).toMatchObject({ status: "held" });
    app.clock.advance(1);
    await untilStatus(app, bookingId, "expired");
    expect(await seatsLeft(app, flight.id)).toBe(10);
    app.clock.advance(holdMs);
    expect(await eventsOf(bookingId)).toEqual(["booking.held", "booking.expired"]);
    expect(await seatsLeft(app, flight.id)).toBe(10);
  });

  test("follows the clock when it is set forward", async () => {
    const flight = await addFlight(app, { flightNumber: "HE2" });
    const { bookingId } = await hold(flight.id);
    app.clock.jump(holdMs);
    app.clock.advance(2_000);
    await untilStatus(app, bookingId, "expired");
  });

  test("leaves nothing to cancel", async () => {
    const flight = await addFlight(app, { flightNumber: "HE3" });
    const { bookingId } = await hold(flight.id);
    await expire(app, bookingId);
    for (const [suffix, init] of [
      ["", { method: "DELETE" }],
      ["/cancellation", {}],
      ["/cancellation", post({ passengers: [1] })],
      ["/changes", post({ flightId: flight.id })],
      ["/passengers/1", { ...post({ lastName: "X" }), method: "PATCH" }],
    ] as const) {
      const response = await app.as("user", `${path}/${String(bookingId)}${suffix}`, init);
      expect(await jsonWith(response, 422)).toMatchObject({ code: "booking-closed" });
    }
  });

  test("does not change what a retry of the request returns", async () => {
    const flight = await addFlight(app, { flightNumber: "HE4" });
    const request = post(held(flight.id), { "idempotency-key": "hold-1" });
    const first = await (await app.as("user", path, request)).text();
    const { bookingId } = JSON.parse(first) as { bookingId: string };
    await expire(app, bookingId);
    const retry = await app.as("user", path, request);
    expect(retry.headers.get("idempotent-replayed")).toBe("true");
    expect(await retry.text()).toBe(first);
    expect(await seatsLeft(app, flight.id)).toBe(10);
  });

  test("cannot expire after it was paid, nor be paid after it expired", async () => {
    const flight = await addFlight(app, { flightNumber: "HE7" });
    const { storage } = app.services;
    for (const order of [
      ["pay", "expire"],
      ["expire", "pay"],
    ] as const) {
      const { bookingId } = await hold(flight.id);
      // Guarantee: the API returned it.
      const id = bookingId as `bk_${string}`;
      const at = new Date(app.clock.now() + holdMs);
      const changes = order.map((name) =>
        name === "pay"
          ? write(confirmHold, { id, updatedAt: at, confirmedAt: at })
          : write(expireHold, { id, revision: 0, updatedAt: at, expiredAt: at }),
      );
      const results = await storage.atomically(...changes);
      expect(results.map((result) => result.changes)).toEqual([1, 0]);
      await storage.atomically(write(deleteHold, { bookingId: id, purpose: "booking" }));
    }
  });
});
