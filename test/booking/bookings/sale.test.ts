import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { json, jsonWith, startApp } from "../../support/app.ts";
import { bookingCalls, bookingsPath as path, totalOf } from "../../support/bookings.ts";
import { addFlight, bookingBody, post, seatsLeft } from "../../support/flights.ts";
import { ask, at } from "../../support/graphql.ts";
import { appPerTest } from "../../support/running-app.ts";
import { runs } from "../../support/runs.ts";

const app = appPerTest();
const { book, cancel } = bookingCalls(app);

describe("seats", () => {
  test("are never oversold: of 700 concurrent bookings for 500 seats, 500 succeed and 200 are 409 [API6-1]", async () => {
    const { id } = await addFlight(app, { seats: 500 });
    const responses = await Promise.all(
      Array.from({ length: 700 }, (_, n) => book(id, 1, {}, `user${n}`)),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(500);
    const conflicts = responses.filter(({ status }) => status === 409);
    expect(conflicts).toHaveLength(200);
    for (const response of conflicts) {
      expect(await json(response)).toMatchObject({
        code: "no-seats",
        detail: "No seats are left",
        seatsAvailable: 0,
      });
    }
    expect(await seatsLeft(app, id)).toBe(0);
    expect(await totalOf(app, path)).toBe(500);
    expect(await totalOf(app, "/v1/events")).toBe(500);
  });

  test("are sold all or none, and the error includes the number left", async () => {
    const { id } = await addFlight(app, { seats: 4 });
    await book(id, 3);
    expect(await jsonWith(await book(id, 2), 409)).toMatchObject({
      code: "no-seats",
      detail: "Only 1 seat is left",
      seatsAvailable: 1,
    });
    expect((await book(id, 1)).status).toBe(201);
  });

  test("left after each of many concurrent bookings are in its response", async () => {
    const { id } = await addFlight(app, { seats: 9 });
    const mutation =
      "mutation ($input: CreateBookingInput!) { createBooking(input: $input) { flight { seatsAvailable } } }";
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask(app, "user", mutation, { input: bookingBody(id) })),
    );
    const left = answers.map(({ data }) =>
      Number(at(data, "createBooking", "flight", "seatsAvailable")),
    );
    expect(left.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("are refused only if fewer are left, even while a cancellation releases some", async () => {
    // One of these delays puts the cancellation right after a booking that found no seats.
    for (let turns = 0; turns < 40; turns += 1) {
      const { id } = await addFlight(app, { seats: 4, flightNumber: `SK${100 + turns}` });
      const { bookingId } = await json(await book(id, 2));
      const cancelLater = async () => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        return cancel(bookingId);
      };
      const [, second] = await Promise.all([book(id, 2), book(id, 1), cancelLater()]);
      const { seatsAvailable = null } = await json(second);
      expect([second.status, seatsAvailable]).toBeOneOf([
        [201, null],
        [409, 0],
      ]);
    }
  });

  test("are released once when many requests cancel at once [API6-2]", async () => {
    const { id } = await addFlight(app);
    const { bookingId } = await json(await book(id, 4));
    await book(id, 5);
    const answers = await Promise.all(Array.from({ length: 50 }, () => cancel(bookingId)));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await seatsLeft(app, id)).toBe(5);
    expect(await totalOf(app, "/v1/events")).toBe(3);
  });

  test("sold and left add up to the cabin under any mix of bookings, cancellations and retries", async () => {
    const command = fc.record({
      kind: fc.constantFrom("book" as const, "book with a key" as const, "cancel" as const),
      who: fc.constantFrom("ada", "bob"),
      seats: fc.integer({ min: 1, max: 4 }),
      key: fc.constantFrom("k1", "k2", "k3"),
      target: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(command, { maxLength: 8 }), { maxLength: 6 }),
        async (bursts) => {
          const one = await startApp();
          const { id } = await addFlight(one, { seats: 12 });
          const made = new Map<string, { seats: number; who: string }>();
          const cancelled = new Set<string>();
          const carryOut = async ({ kind, who, seats, key, target }: (typeof bursts)[0][0]) => {
            if (kind === "cancel") {
              const [bookingId, booking] = [...made][target % Math.max(made.size, 1)] ?? [];
              if (bookingId === undefined || booking === undefined) return;
              const init = { method: "DELETE" };
              const answer = await one.as("user", `${path}/${bookingId}`, init, booking.who);
              expect(answer.status).toBe(200);
              cancelled.add(bookingId);
              return;
            }
            const headers = kind === "book" ? {} : { "idempotency-key": key };
            const answer = await one.as("user", path, post(bookingBody(id, seats), headers), who);
            expect([201, 409, 422]).toContain(answer.status);
            const { bookingId } = await json(answer);
            if (answer.status === 201) made.set(String(bookingId), { seats, who });
          };
          for (const burst of bursts) {
            await Promise.all(burst.map(carryOut));
            const sold = [...made]
              .filter(([bookingId]) => !cancelled.has(bookingId))
              .reduce((sum, [, { seats }]) => sum + seats, 0);
            expect(await seatsLeft(one, id)).toBe(12 - sold);
          }
          await one.stop();
        },
      ),
      { numRuns: runs(40) },
    );
  });
});
