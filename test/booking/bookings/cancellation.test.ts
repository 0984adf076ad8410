import { describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls } from "../../support/bookings.ts";
import { addFlight } from "../../support/flights.ts";
import { dataOf } from "../../support/graphql.ts";
import { appPerTest } from "../../support/running-app.ts";

const hourMs = 3_600_000;
const app = appPerTest();
const { book, cancel, get, quote } = bookingCalls(app);

describe("a cancellation", () => {
  const hoursBefore = async (hours: number, heldHours: number) => {
    const departureTime = new Date(app.clock.now() + (hours + heldHours) * hourMs);
    const { id } = await addFlight(app, { departureTime });
    const { bookingId } = await json(await book(id));
    app.clock.advance(heldHours * hourMs);
    return bookingId;
  };

  test.each([
    [24 * 7, 24, 100, 499.5],
    [24 * 7 - 1, 24, 90, 449.55],
    [24 * 7, 25, 90, 449.55],
    [73, 1, 90, 449.55],
    [72, 1, 50, 249.75],
    [25, 1, 50, 249.75],
    [24, 1, 0, 0],
    [0.1, 10, 0, 0],
  ])(
    "%d h before departure and %d h after booking refunds %d %%",
    async (left, held, percent, amount) => {
      const bookingId = await hoursBefore(left, held);
      const quoted = await json(await quote(bookingId));
      expect(quoted["refund"]).toEqual({
        amount,
        currency: "USD",
        percent,
        fee: Number((499.5 - amount).toFixed(2)),
        method: "original_payment_method",
        status: amount === 0 ? "none" : "pending",
        reason: expect.any(String),
      });
      const cancellation = await jsonWith(await cancel(bookingId), 200);
      expect(cancellation).toEqual({
        bookingId,
        status: "cancelled",
        cancelledAt: new Date(app.clock.now()).toISOString(),
        refund: quoted["refund"],
      });
      app.clock.advance(hourMs);
      expect(await json(await cancel(bookingId))).toEqual(cancellation);
      expect(await json(await quote(bookingId))).toMatchObject({ refund: quoted["refund"] });
      const shown = await json(await get(bookingId));
      expect(shown).toMatchObject({ status: "cancelled", cancellation, payments: [] });
      const status = amount === 0 ? "none" : "pending";
      const progress = { amount, refunded: 0, currency: "USD", status, payouts: [] };
      const refund = amount === 0 ? null : progress;
      expect(shown["refund"]).toEqual(refund);
      const { history } = await json(
        await app.as("admin", `/v1/api/bookings/${String(bookingId)}`),
      );
      expect(history).toContainEqual(expect.objectContaining({ type: `refund.${status}` }));
      const list = await json(await app.as("admin", "/v1/api/bookings"));
      expect(list["data"]).toMatchObject([{ cancellation }]);
    },
  );

  test("refunds an amount that is rounded down to the minor unit", async () => {
    const departureTime = new Date(app.clock.now() + 100 * hourMs);
    const { id } = await addFlight(app, { departureTime, priceMinor: 333 });
    const { bookingId } = await json(await book(id));
    // 90 % of 3.33 is 2.997.
    expect(await json(await cancel(bookingId))).toMatchObject({
      refund: { percent: 90, amount: 2.99, fee: 0.34 },
    });
  });

  test("after departure is 400, as is its quote", async () => {
    const bookingId = await hoursBefore(0, 2);
    for (const answer of [await quote(bookingId), await cancel(bookingId)]) {
      expect(await jsonWith(answer, 400)).toMatchObject({ code: "not-cancellable" });
    }
  });
});

test("GraphQL returns the cancelled booking under its id, as a client's cache needs it", async () => {
  const departureTime = new Date(app.clock.now() + 240 * hourMs);
  const { id } = await addFlight(app, { departureTime });
  const { bookingId } = await json(await book(id));
  const variables = { id: bookingId };
  const query = "query ($id: ID!) { booking(bookingId: $id) { id status } }";
  const before = Object(await dataOf(app, "admin", query, variables)).booking;
  const cancelling = `mutation ($id: ID!) {
    cancelBooking(bookingId: $id) { booking { __typename id status } }
  }`;
  expect(await dataOf(app, "admin", cancelling, variables)).toEqual({
    cancelBooking: { booking: { __typename: "Booking", id: before.id, status: "cancelled" } },
  });
});
