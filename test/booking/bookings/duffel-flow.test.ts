import { expect, test } from "bun:test";

import { json, jsonWith, type TestApp } from "../../support/app.ts";
import { bookingsPath } from "../../support/bookings.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { paymentEvent } from "../../support/payments.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();
const hourMs = 3_600_000;

/** What the guides of Duffel's API call things, as calls of ours. docs/changes.md has the same table. */
const duffel = (server: TestApp) => {
  const call = async (path: string, init: RequestInit, status: number) =>
    jsonWith(await server.as("user", `${bookingsPath}/${path}`, init), status);
  return {
    /** POST /air/order_change_requests, and its only order_change_offer. */
    async orderChangeRequest(orderId: string, add: { readonly flightId: number }) {
      const { id, changeTotal, penalty, newTotal, currency, expiresAt } = await call(
        `${orderId}/changes`,
        post(add),
        201,
      );
      return {
        order_id: orderId,
        order_change_offers: [
          {
            id,
            change_total_amount: changeTotal,
            penalty_total_amount: penalty,
            new_total_amount: newTotal,
            new_total_currency: currency,
            expires_at: expiresAt,
          },
        ],
      };
    },
    /** POST /air/order_changes/{id}/actions/confirm. */
    async confirmOrderChange(orderId: string, id: unknown) {
      const change = await call(
        `${orderId}/changes/${String(id)}/confirm`,
        { method: "POST" },
        200,
      );
      return { id: change["id"], confirmed_at: change["confirmedAt"] };
    },
    /** POST /air/order_cancellations, which quotes; `passengers` is what Duffel does not have. */
    async orderCancellation(orderId: string, passengers: readonly number[]) {
      const quote = await call(`${orderId}/cancellation`, post({ passengers }), 201);
      return {
        id: quote["id"],
        refund_amount: -Number(quote["changeTotal"]),
        refund_currency: quote["currency"],
        expires_at: quote["expiresAt"],
        confirmed_at: quote["confirmedAt"],
      };
    },
    order: (orderId: string) => call(orderId, {}, 200),
  };
};

test("the flow of Duffel's guides to changes and cancellations works by their words", async () => {
  const flight = async (name: string, hours: number, priceMinor: number) => {
    const departureTime = new Date(app.clock.now() + hours * hourMs);
    return (await addFlight(app, { flightNumber: name, departureTime, priceMinor })).id;
  };
  const from = await flight("DF1", 200, 10_000);
  const to = await flight("DF2", 240, 15_000);
  const made = await json(await app.as("user", bookingsPath, post(bookingBody(from, 2))));
  const orderId = String(made["bookingId"]);
  const api = duffel(app);

  const request = await api.orderChangeRequest(orderId, { flightId: to });
  const [offer] = request.order_change_offers;
  expect(offer).toMatchObject({ change_total_amount: 100, penalty_total_amount: 0 });
  // More is to be paid: the change is made by its payment.
  expect(await api.confirmOrderChange(orderId, offer?.id)).toMatchObject({ confirmed_at: null });
  const payment = { booking: orderId, amount: 10_000 };
  const paid = paymentEvent(app, 1, "payment_intent.succeeded", payment);
  await jsonWith(await app.deliver("payment_processor", paid), 200);
  expect(await api.order(orderId)).toMatchObject({ flight: { id: to }, totalPrice: 300 });

  const cancellation = await api.orderCancellation(orderId, [2]);
  expect(cancellation).toMatchObject({ refund_amount: 150, confirmed_at: null });
  expect(await api.confirmOrderChange(orderId, cancellation.id)).toMatchObject({
    confirmed_at: expect.any(String),
  });
  expect(await api.order(orderId)).toMatchObject({
    status: "confirmed",
    totalPrice: 150,
    refund: { amount: 150, status: "pending" },
  });
});
