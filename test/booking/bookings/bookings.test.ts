import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, bookingsPath as path, totalOf } from "../../support/bookings.ts";
import { addFlight, bookingBody, passenger, post, seatsLeft } from "../../support/flights.ts";
import { resources } from "../../support/resources.ts";
import { appPerTest } from "../../support/running-app.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const taken = resources();
const app = appPerTest();
const { book, cancel, get } = bookingCalls(app);

describe("a booking", () => {
  test("is created with 201 and exactly the specified fields", async () => {
    const flight = await addFlight(app);
    const response = await book(flight.id, 2);
    const booking = await jsonWith(response, 201);
    expect(booking).toEqual({
      bookingId: expect.stringMatching(/^bk_[0-9a-f]{32}$/),
      status: "confirmed",
      totalPrice: 999,
      currency: "USD",
      confirmationSentTo: "ada@example.com",
      createdAt: new Date(app.clock.now()).toISOString(),
      reference: expect.stringMatching(/^[A-Z]{6}$/),
    });
    expect(response.headers.get("location")).toBe(`${path}/${String(booking["bookingId"])}`);
    expect(await seatsLeft(app, flight.id)).toBe(8);
  });

  test("is returned to its owner with masked passports and birth dates", async () => {
    const flight = await addFlight(app);
    const made = await json(await book(flight.id));
    const response = await get(made["bookingId"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await json(response)).toMatchObject({
      ...made,
      id: made["bookingId"],
      seats: 1,
      userId: "ada",
      contactEmail: "ada@example.com",
      paymentMethod: "card",
      cancellation: null,
      flight: { id: flight.id, flightNumber: "SK100", duration: "7h 00m" },
      passengers: [
        {
          firstName: "Ada",
          lastName: "Lovelace",
          email: "ada@example.com",
          dateOfBirth: "****-**-**",
          passportNumber: "*****01",
        },
      ],
    });
  });

  test("has the status flown after its flight has departed", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id));
    app.clock.advance(31 * dayMs);
    expect(await json(await get(bookingId))).toMatchObject({ status: "flown" });
  });

  test("creates events for operators without personal data", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id));
    await cancel(bookingId);
    const text = await (await app.as("operator", "/v1/events?provider=bookings")).text();
    const { data } = JSON.parse(text) as {
      data: { type: string; title: string; actor: unknown }[];
    };
    expect(data.map(({ type }) => type)).toEqual(["booking.cancelled", "booking.confirmed"]);
    expect(data.map(({ actor }) => actor)).toEqual([null, null]);
    expect(data[1]?.title).toMatch(/^Booking [A-Z]{6} confirmed: 1 seat on SK100 JFK → LHR, /);
    expect(text).not.toMatch(/X0000001|1990-04-12|ada@example/);
    expect(await totalOf(app, "/v1/notifications")).toBe(2);
  });

  test("is stored, and cancelled, together with its event and the event's notification", async () => {
    const file = taken.newFile();
    await app.restart({ DATABASE_URL: `sqlite:${file}` });
    const { id } = await addFlight(app);
    using other = new Database(file);
    const failing = async (request: () => Promise<Response>) => {
      other.run(
        "create trigger broken before insert on notifications begin select raise(abort, 'broken'); end",
      );
      expect((await request()).status).toBe(500);
      other.run("drop trigger broken");
    };
    await failing(() => book(id));
    expect([
      await totalOf(app, path),
      await totalOf(app, "/v1/events"),
      await seatsLeft(app, id),
    ]).toEqual([0, 0, 10]);
    const { bookingId } = await json(await book(id));
    await failing(() => cancel(bookingId));
    expect(await json(await get(bookingId))).toMatchObject({ status: "confirmed" });
    expect([await totalOf(app, "/v1/events"), await seatsLeft(app, id)]).toEqual([1, 9]);
    expect((await cancel(bookingId)).status).toBe(200);
    expect([await totalOf(app, "/v1/events"), await seatsLeft(app, id)]).toEqual([2, 10]);
  });

  test("has names that are trimmed and composed (NFC)", async () => {
    const { id } = await addFlight(app);
    const body = bookingBody(id);
    const named = {
      ...passenger(),
      firstName: "  Zoe\u0308 ",
      email: "Jos\u00c9@BÜCHER.example",
      passportNumber: " ab-12 3\u20114 5 ",
    };
    const made = await app.as("user", path, post({ ...body, passengers: [named] }), "ada");
    const { bookingId } = await json(made);
    expect(await json(await get(bookingId))).toMatchObject({
      passengers: [{ firstName: "Zoë", email: "josé@bücher.example", passportNumber: "*****45" }],
    });
  });

  test("in yen or dinars has the decimals of its currency", async () => {
    const dinars = { currency: "KWD", priceMinor: 49_955 };
    const yen = await addFlight(app, { currency: "JPY", priceMinor: 49_950 });
    const dinar = await addFlight(app, { ...dinars, flightNumber: "SK200" });
    expect(await json(await book(yen.id))).toMatchObject({ totalPrice: 49_950, currency: "JPY" });
    expect(await json(await book(dinar.id))).toMatchObject({ totalPrice: 49.955 });
  });
});

describe("access to bookings", () => {
  test("answers a stranger byte for byte as for a missing booking, except for ids [API1-1]", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id));
    const missing = `bk_${"0".repeat(32)}`;
    const headers = { "x-request-id": "same" };
    for (const [method, suffix] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/cancellation"],
    ] as const) {
      const ask = async (booking: unknown) => {
        const init = { method, headers };
        const response = await app.as("user", `${path}/${String(booking)}${suffix}`, init, "eve");
        expect(response.status).toBe(404);
        // Counts down with each request.
        response.headers.delete("ratelimit");
        return [await response.text(), ...response.headers].join();
      };
      expect(await ask(bookingId)).toBe(await ask(missing));
    }
    expect(await json(await get(bookingId))).toMatchObject({ status: "confirmed" });
  });

  test("lets an admin read and cancel any booking, but not an operator [API5-3]", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id));
    const of = `${path}/${String(bookingId)}`;
    expect((await app.as("operator", of)).status).toBe(404);
    expect((await app.as("admin", of)).status).toBe(200);
    expect((await app.as("admin", of, { method: "DELETE" })).status).toBe(200);
  });

  test("returns passengers of own bookings only", async () => {
    const { id } = await addFlight(app);
    const bookingId = String((await json(await book(id)))["bookingId"]);
    const found = async (who: string, role: "user" | "operator" | "admin") => {
      const actor = { id: who, roles: [role] };
      const ctx = { actor, expiresAt: new Date(app.clock.now() + hourMs), requestId: "req_1" };
      return (await app.services.bookings.passengers(ctx, [bookingId])).size;
    };
    expect([await found("ada", "user"), await found("root", "admin")]).toEqual([1, 1]);
    expect([await found("eve", "user"), await found("op", "operator")]).toEqual([0, 0]);
  });

  test("lists a user's own bookings, and for admins all or one user's", async () => {
    const { id } = await addFlight(app);
    for (const who of ["ada", "bob", "ada"]) await book(id, 1, {}, who);
    const owners = async (role: "user" | "admin", query: string, who: string) => {
      const { data } = await json(await app.as(role, `${path}${query}`, {}, who));
      return Array.isArray(data) ? data.map((item: { userId: string }) => item.userId) : [];
    };
    expect(await owners("user", "", "ada")).toEqual(["ada", "ada"]);
    expect(await owners("user", "?userId=ada", "ada")).toEqual(["ada", "ada"]);
    const anothers = await app.as("user", `${path}?userId=bob`, {}, "ada");
    expect(await jsonWith(anothers, 403)).toMatchObject({ code: "insufficient-scope" });
    expect(await owners("admin", "", "root")).toEqual(["ada", "bob", "ada"]);
    expect(await owners("admin", "?userId=bob", "root")).toEqual(["bob"]);
    expect(await owners("user", "", "eve")).toEqual([]);
  });
});
