import { describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, bookingsPath as path, expire } from "../../support/bookings.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { dataOf } from "../../support/graphql.ts";
import { payer } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();
const { cancel } = bookingCalls(app);
const pay = payer(app);
const dayMs = 86_400_000;
const price = 49_950;

/** What can happen to a booking. */
type Step =
  | "expire"
  | "cancel"
  | "fill"
  | { readonly record: number }
  | { readonly pay: number; readonly as?: string }
  | { readonly refund: number; readonly as?: string };
type Kind = "plain" | "hold" | "plain, tomorrow";

const reported = "amount currency status provider createdAt eventId";
const refund = `refund { amount refunded currency status payouts { ${reported} } }`;
const cancellation = "cancellation { refund { amount currency percent fee method status reason } }";
const query = `query ($id: ID!) { booking(bookingId: $id) {
  paymentMethod payments { ${reported} } ${refund} ${cancellation} } }`;
const list = `{ bookings { nodes { bookingId payments { ${reported} } ${refund} ${cancellation} } } }`;

async function bookingAfter(who: string, kind: Kind, steps: readonly Step[]): Promise<string> {
  const departureTime = new Date(app.clock.now() + (kind === "plain, tomorrow" ? 1 : 30) * dayMs);
  const flight = await addFlight(app, { flightNumber: who, seats: 1, departureTime });
  const input = { ...bookingBody(flight.id), hold: kind === "hold" };
  const id = String((await json(await app.as("user", path, post(input), who)))["bookingId"]);
  for (const step of steps) {
    if (step === "expire") await expire(app, id);
    else if (step === "cancel") await jsonWith(await cancel(id, who), 200);
    else if (step === "fill") await app.as("user", path, post(bookingBody(flight.id)), "bob");
    else if (typeof step === "object" && "record" in step) {
      const body = post({ amount: step.record, note: "by transfer" });
      await jsonWith(await app.as("admin", `${path}/${id}/refund`, body), 200);
    } else {
      const isPaid = "pay" in step;
      const money = {
        amount: isPaid ? step.pay : step.refund,
        payment: `${step.as ?? "pi"}_${who}`,
        booking: id,
      };
      await pay(isPaid ? "payment_intent.succeeded" : "charge.refunded", money);
    }
  }
  return id;
}

const read = async (id: string, who: string) =>
  json(await app.as("user", `${path}/${id}`, {}, who));

describe("payments and refund", () => {
  let number = 0;

  test.each<[Kind, readonly Step[], status: string | null, ofCancellation: string | null]>([
    ["plain", [], null, null],
    ["plain", ["cancel"], "pending", "pending"],
    ["plain, tomorrow", ["cancel"], null, "none"],
    ["plain", [{ pay: price }], null, null],
    ["plain", [{ refund: 100 }], "succeeded", null],
    ["plain", [{ refund: 100 }, "cancel"], "partial", "partial"],
    ["plain", ["cancel", { refund: 100 }, { refund: 1, as: "other" }], "partial", "partial"],
    ["plain", ["cancel", { refund: price }], "succeeded", "succeeded"],
    ["plain", ["cancel", { refund: price + 1 }], "pending", "pending"],
    ["plain", ["cancel", { record: 1 }, { refund: 100 }], "partial", "partial"],
    ["plain", ["cancel", { record: price / 100 }], "succeeded", "succeeded"],
    ["hold", [], null, null],
    ["hold", ["cancel"], null, "none"],
    ["hold", ["expire"], null, null],
    ["hold", ["expire", { pay: price }], null, null],
    ["hold", ["expire", "fill", { pay: price }], null, null],
    ["hold", ["cancel", { pay: price }], null, "none"],
    ["hold", [{ pay: 1 }], null, null],
    ["hold", [{ pay: price }], null, null],
    ["hold", [{ pay: price }, { pay: price, as: "other" }], null, null],
    ["hold", [{ pay: price }, { refund: 100 }], "succeeded", null],
    ["hold", [{ pay: price }, { refund: 100 }, "cancel"], "partial", "partial"],
    ["hold", [{ pay: price }, "cancel"], "pending", "pending"],
    ["hold", [{ pay: price }, "cancel", { refund: 100 }], "partial", "partial"],
    ["hold", [{ pay: price }, "cancel", { refund: price }], "succeeded", "succeeded"],
    ["hold", [{ pay: price }, "cancel", { refund: price + 1 }], "pending", "pending"],
    ["hold", [{ pay: price }, "cancel", { refund: 1, as: "other" }], "pending", "pending"],
    [
      "hold",
      [{ pay: price }, "cancel", { record: 1 }, { refund: price }],
      "succeeded",
      "succeeded",
    ],
    ["hold", [{ refund: 100 }], "none", null],
    ["hold", [{ refund: 100 }, { pay: price }], "succeeded", null],
    ["hold", ["cancel", { refund: 100 }], "none", "none"],
  ])(
    "are the same in REST and GraphQL: %s after %j it is %s, and %s of the cancellation",
    async (kind, steps, status, other) => {
      number += 1;
      const who = `MP${number}`;
      const id = await bookingAfter(who, kind, steps);
      const rest = await read(id, who);
      const { payments, refund: progress, cancellation: ended, paymentMethod } = rest;
      expect([Object(progress).status ?? null, Object(ended).refund?.status ?? null]).toEqual([
        status,
        other,
      ]);

      const { booking } = await dataOf(app, ["user", who], query, { id });
      const own = ended === null ? null : { refund: Object(ended).refund };
      const shown = { payments, refund: progress, cancellation: own };
      expect(booking).toEqual({ paymentMethod, ...shown });
      const { bookings } = await dataOf(app, ["user", who], list);
      expect(Object(bookings).nodes).toEqual([{ bookingId: id, ...shown }]);

      const { refund: quoted = null } = await json(
        await app.as("user", `${path}/${id}/cancellation`, {}, who),
      );
      if (ended === null) return;
      expect(quoted).toEqual(Object(ended).refund);
      const again = `mutation ($id: ID!) { cancelBooking(bookingId: $id) {
      refund { amount currency percent fee method status reason } booking { ${refund} } } }`;
      expect(await dataOf(app, ["user", who], again, { id })).toEqual({
        cancelBooking: { refund: quoted, booking: { refund: progress } },
      });
    },
  );
});
