import { describe, expect, test } from "bun:test";

import { paymentProcessor } from "../../../src/inbound/providers/payment_processor.ts";
import { interpretPayload, now, sampleBody } from "../../support/providers.ts";

describe("payment_processor", () => {
  const body = (type: string) => sampleBody(paymentProcessor, type);
  const paid = (amount: unknown, currency: unknown) =>
    interpretPayload(paymentProcessor, {
      ...body("invoice.paid"),
      data: { object: { id: "in_1", object: "invoice", amount_paid: amount, currency } },
    }).data["amount"];

  test("includes amount, customer and reason", () => {
    expect(interpretPayload(paymentProcessor, body("payment_intent.payment_failed")).title).toBe(
      "Payment failed: EUR 42.00 · kim@example.net · Your card was declined.",
    );
    expect(interpretPayload(paymentProcessor, body("charge.dispute.created")).title).toBe(
      "Dispute opened: EUR 42.00 · kim@example.net · fraudulent",
    );
  });

  test("marks events about tests", () => {
    const event = { ...body("invoice.paid"), livemode: false };
    expect(interpretPayload(paymentProcessor, event)).toMatchObject({
      title: "Invoice paid: EUR 42.00 · kim@example.net · test mode",
      data: { test: true },
    });
  });

  test.each([
    [123_456, "usd", "USD 1,234.56"],
    [0, "eur", "EUR 0.00"],
    [-5, "eur", "EUR -0.05"],
    [500, "jpy", "JPY 500"],
    [5_120, "kwd", "KWD 5.120"],
    // The service's exponents for these differ from ISO 4217.
    [500, "mga", "MGA 500"],
    [500, "isk", "ISK 5.00"],
  ])("formats %d %s as %s", (amount, currency, text) => {
    expect(paid(amount, currency)).toBe(text);
  });

  test.each([
    ["12", "eur"],
    [1.5, "eur"],
    [2 ** 60, "eur"],
    [12, "euro"],
    [12, null],
    [null, "eur"],
  ])("ignores the invalid amount %p %p", (amount, currency) => {
    expect(paid(amount, currency)).toBeUndefined();
  });

  test("links to the dashboard of test data or live data", () => {
    const event = { ...body("invoice.paid"), id: "evt_1" };
    const urlOf = (livemode: boolean) =>
      interpretPayload(paymentProcessor, { ...event, livemode }).url;
    expect(urlOf(false)).toBe("https://dashboard.stripe.com/test/events/evt_1");
    expect(urlOf(true)).toBe("https://dashboard.stripe.com/events/evt_1");
  });

  test("uses the id of an expanded customer", () => {
    const thing = { id: "sub_1", object: "subscription", customer: { id: "cus_9" } };
    const event = interpretPayload(paymentProcessor, {
      ...body("customer.subscription.deleted"),
      data: { object: thing },
    });
    expect(event).toMatchObject({ actor: "cus_9", subject: "subscription/sub_1" });
    expect(event.title).toStartWith("Subscription ended: sub_1 · cus_9");
  });

  test("ignores a thin event, which contains no object, even with a listed name", () => {
    const thin = {
      id: "evt_65R",
      object: "v2.core.event",
      type: "v1.billing.meter.error_report_triggered",
      created: "2026-11-21T09:12:44.120Z",
      livemode: true,
      related_object: { id: "mtr_1", type: "billing.meter" },
    };
    expect(interpretPayload(paymentProcessor, thin)).toMatchObject({
      status: "ignored",
      type: "v1.billing.meter.error_report_triggered",
      deliveryId: "evt_65R",
      occurredAt: now,
    });
    expect(interpretPayload(paymentProcessor, { ...thin, type: "invoice.paid" }).status).toBe(
      "ignored",
    );
  });
});
