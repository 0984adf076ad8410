import { describe, expect, test } from "bun:test";

import { json, jsonWith } from "../../support/app.ts";
import { bookingCalls, bookingsPath as path } from "../../support/bookings.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { ask, dataOf } from "../../support/graphql.ts";
import { paymentsOf } from "../../support/payments.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();
const { cancel } = bookingCalls(app);
const { send: pay, read } = paymentsOf(app, "RR");

async function booked({ hold = false, cancelled = true } = {}): Promise<string> {
  const { id: flightId } = await addFlight(app);
  const response = await app.as("user", path, post({ ...bookingBody(flightId), hold }), "ada");
  const id = String((await jsonWith(response, 201))["bookingId"]);
  if (hold) await pay("payment_intent.succeeded", { booking: id, payment: "pi" });
  if (cancelled) await jsonWith(await cancel(id), 200);
  return id;
}

const record = (id: string, body: object = {}) =>
  app.as("admin", `${path}/${id}/refund`, post(body), "root");
const refunded = async (id: string) => Object((await read(id))["refund"]);
const refundedBy = (id: string, amount: number, payment = "pi") =>
  pay("charge.refunded", { booking: id, amount, payment });
const refundEvents = async () =>
  Object(await json(await app.as("operator", "/v1/events?type=booking.refunded")))["data"];

describe("a refund that an admin records", () => {
  test.each([
    ["all that is due", false, {}, 499.5, "succeeded"],
    ["a part", false, { amount: 100 }, 100, "partial"],
    ["of a paid booking", true, { amount: 499.5 }, 499.5, "succeeded"],
  ])("%s (paid by an event: %p): %j, once", async (_, hold, body, sum, status) => {
    const id = await booked({ hold });
    expect(await refunded(id)).toMatchObject({ status: "pending", refunded: 0 });
    const request = { ...body, note: "bank transfer 117" };
    const answers = await Promise.all([record(id, request), record(id, request)]);
    for (const answer of answers) {
      expect(await jsonWith(answer, 200)).toMatchObject({ amount: 499.5, refunded: sum, status });
    }
    const { refund, cancellation, history } = await read(id);
    expect(refund).toMatchObject({ refunded: sum, status, payouts: [{ provider: "bookings" }] });
    expect(Object(cancellation).refund).toMatchObject({ amount: 499.5, status });
    const [event, ...others] = await refundEvents();
    expect(others).toEqual([]);
    expect(event).toMatchObject({ subject: `booking/${id}`, actor: "root" });
    expect(Object(history).at(-1)).toMatchObject({
      type: `refund.${status}`,
      title: `Refunded USD ${sum.toFixed(2)} in all, of USD 499.50 due: bank transfer 117`,
      actor: "root",
      eventId: event.id,
      webhook: null,
      notifications: [{ status: "delivered" }],
    });
    const audit = await json(await app.as("admin", "/v1/audit?action=booking.refunded"));
    expect(audit["data"]).toMatchObject([{ actor: "root", subject: id }]);
  });

  test("is the sum so far: more counts, less is a correction with a reason", async () => {
    const id = await booked();
    const reason = "the bank returned it";
    for (const [body, sum] of [
      [{ amount: 100 }, 100],
      [{ amount: 250.5 }, 250.5],
      [{ amount: 100, note: "again" }, null],
      [{ amount: 100, reason }, 100],
      [{ amount: 100, reason }, 100],
      [{}, 499.5],
      [{ amount: 0, reason }, 0],
    ] as const) {
      const answer = await jsonWith(await record(id, body), sum === null ? 422 : 200);
      expect(answer).toMatchObject(
        sum === null ? { errors: [{ pointer: "/reason" }] } : { refunded: sum },
      );
    }
    const titles = Object(await refundEvents()).map(({ title }: { title: string }) => title);
    expect(titles).toHaveLength(5);
    expect(titles[0]).toEndWith("refunded: USD 0.00 of USD 499.50, corrected from USD 499.50");
    const { refund, history } = await read(id);
    expect(refund).toMatchObject({ refunded: 0, status: "pending" });
    expect(Object(history).at(-1)).toMatchObject({
      type: "refund.corrected",
      title: `Refund corrected to USD 0.00 in all, of USD 499.50 due: ${reason}`,
      actor: "root",
    });
    const audit = await json(await app.as("admin", "/v1/audit?action=booking.refunded"));
    expect(Object(audit["data"])[0]).toMatchObject({
      detail: "USD 0.00 in all, corrected from USD 499.50",
    });
  });

  test.each([
    ["more than is due", {}, { amount: 499.51 }, 422, "Only USD 499.50 is due in all"],
    ["more decimals than the currency has", {}, { amount: 1.001 }, 422, "at most 2 decimals"],
    ["a negative amount", {}, { amount: -1 }, 422, "0 or more"],
    ["a text", {}, { amount: "1" }, 400, "0 or more"],
    ["a note of two lines", {}, { note: "a\nb" }, 422, "control characters"],
    ["a booking that is not cancelled", { cancelled: false }, {}, 422, "No refund"],
  ])("%s is an error, and nothing is recorded", async (_, kind, body, status, detail) => {
    const id = await booked(kind);
    const before = await read(id);
    expect((await jsonWith(await record(id, body), status))["detail"]).toContain(detail);
    expect(await read(id)).toEqual(before);
  });

  test("needs the role admin, and a booking; GraphQL does the same", async () => {
    const id = await booked();
    const mutation = `mutation ($id: ID!, $input: RecordRefundInput) {
      recordRefund(bookingId: $id, input: $input) { refund { refunded status } } }`;
    for (const [who, bookingId, code] of [
      ["user", id, "insufficient-scope"],
      ["operator", id, "insufficient-scope"],
      ["admin", "bk_1", "booking-not-found"],
    ] as const) {
      const answer = await app.as(who, `${path}/${bookingId}/refund`, post({}));
      expect((await json(answer))["code"]).toBe(code);
      const { errors } = await ask(app, who, mutation, { id: bookingId });
      expect(errors).toMatchObject([{ extensions: { code } }]);
    }
    for (const input of [
      { amount: 2, note: "x" },
      { amount: 1, reason: "y" },
      { amount: null, note: null, reason: null },
      undefined,
    ]) {
      const [sum, status] = input?.amount ? [input.amount, "partial"] : [499.5, "succeeded"];
      expect(await dataOf(app, "admin", mutation, { id, input })).toEqual({
        recordRefund: { refund: { refunded: sum, status } },
      });
    }
  });
});

test("a refund event that names a booking without a hold and a refund that an admin recorded are the same money", async () => {
  const id = await booked();
  await jsonWith(await record(id, { amount: 100 }), 200);
  await refundedBy(id, 10_000);
  expect(await refunded(id)).toMatchObject({ status: "partial", refunded: 100 });
  await refundedBy(id, 49_950);
  expect(await refunded(id)).toMatchObject({ status: "succeeded", refunded: 499.5 });
  expect(await refundEvents()).toHaveLength(2);
});
