import { describe, expect, test } from "bun:test";

import { flightById } from "../../../src/booking/flights/flights.sql.ts";
import { json, jsonWith } from "../../support/app.ts";
import { bookingsPath as path } from "../../support/bookings.ts";
import { changeFlight } from "../../support/flight-changes.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";
import { ask } from "../../support/graphql.ts";
import { appPerTest } from "../../support/running-app.ts";
import { watchReads } from "../../support/watched-reads.ts";

const app = appPerTest();
const send = (body: object, headers: Record<string, string> = {}) =>
  app.as("user", path, post(body, headers), "ada");
const usd = (amount: number) => ({ amount, currency: "USD" });
const mutation =
  "mutation ($input: CreateBookingInput!) { createBooking(input: $input) { totalPrice } }";

describe("a booking with an expected price", () => {
  test.each([
    ["the total of two passengers", 2, usd(999), 201],
    ["one passenger's price for two", 2, usd(499.5), 409],
    ["a cent more", 1, usd(499.51), 409],
    ["a cent less", 1, usd(499.49), 409],
    ["another currency", 1, { amount: 499.5, currency: "EUR" }, 409],
    ["nothing", 1, usd(0), 409],
    ["more decimals than the currency has", 1, usd(499.501), 422],
    ["decimals of yen", 1, { amount: 499.5, currency: "JPY" }, 422],
    ["a negative amount", 1, usd(-1), 422],
    ["more digits than are exact", 1, usd(1e15), 422],
    ["an unknown currency", 1, { amount: 1, currency: "XXX" }, 422],
    ["a currency in lower case", 1, { amount: 499.5, currency: "usd" }, 422],
  ])("%s for %d: %j is %d, held or not, in REST and GraphQL", async (_, seats, price, status) => {
    const { id } = await addFlight(app);
    const currentPrice = usd(499.5 * seats);
    for (const fields of [{}, { hold: true }]) {
      const input = { ...bookingBody(id, seats), ...fields, expectedPrice: price };
      const problem = await jsonWith(await send(input), status);
      const { data, errors } = await ask(app, "user", mutation, { input });
      if (status === 201) {
        expect(problem).toMatchObject({ totalPrice: currentPrice.amount });
        expect(data).toEqual({ createBooking: { totalPrice: currentPrice.amount } });
        continue;
      }
      const code = status === 409 ? "price-changed" : "validation-failed";
      const prices = status === 409 ? { expectedPrice: price, currentPrice } : {};
      expect(problem).toMatchObject({ code, ...prices });
      expect(errors).toMatchObject([
        { message: problem["detail"], extensions: { code, status, ...prices } },
      ]);
    }
    expect(await seatsLeft(app, id)).toBe(status === 201 ? 10 - 4 * seats : 10);
  });

  test("of the wrong type is 400", async () => {
    const { id } = await addFlight(app);
    for (const expectedPrice of [false, 999, usd(Number.NaN)]) {
      const body = { ...bookingBody(id), expectedPrice };
      expect(await jsonWith(await send(body), 400)).toMatchObject({ code: "invalid-body" });
    }
  });

  test("is part of what an idempotency key was used for, and a refusal leaves the key free", async () => {
    const flight = await addFlight(app);
    const { id } = flight;
    const key = { "idempotency-key": "one" };
    const at = (amount: number) => send({ ...bookingBody(id), expectedPrice: usd(amount) }, key);
    await jsonWith(await at(1), 409);
    const { bookingId } = await jsonWith(await at(499.5), 201);
    await changeFlight(app, flight, { priceMinor: 60_000 });
    expect(await jsonWith(await at(499.5), 201)).toMatchObject({ bookingId });
    expect(await jsonWith(await at(600), 422)).toMatchObject({ code: "idempotency-key-reused" });
  });

  test.each([
    ["to another amount", { priceMinor: 60_000 }, usd(600)],
    ["to another currency", { currency: "EUR" }, { amount: 499.5, currency: "EUR" }],
  ])(
    "is never sold at the old price if an import moves it %s meanwhile",
    async (_, fields, now) => {
      for (const expectedPrice of [usd(499.5), undefined]) {
        const flightNumber = expectedPrice === undefined ? "SK101" : "SK102";
        const flight = await addFlight(app, { flightNumber });
        const { id } = flight;
        let imports = 1;
        // The import commits between the read of the price and the sale.
        const end = watchReads(app.services.storage, async (statement) => {
          if (statement === flightById && imports-- > 0) await changeFlight(app, flight, fields);
        });
        const sold = await json(await send({ ...bookingBody(id), expectedPrice }));
        end();
        if (expectedPrice === undefined) {
          expect(sold).toMatchObject({ totalPrice: now.amount, currency: now.currency });
        } else expect(sold).toMatchObject({ code: "price-changed", currentPrice: now });
        expect(await seatsLeft(app, id)).toBe(expectedPrice === undefined ? 9 : 10);
      }
    },
  );

  test("of a price that moves again and again ends with 503", async () => {
    const flight = await addFlight(app);
    const { id } = flight;
    let reads = 0;
    const end = watchReads(app.services.storage, async (statement) => {
      if (statement !== flightById) return;
      await changeFlight(app, flight, { priceMinor: (reads += 1) });
    });
    expect(await json(await send(bookingBody(id)))).toMatchObject({ code: "unavailable" });
    end();
    expect(await seatsLeft(app, id)).toBe(10);
  });
});
