import { afterEach, expect, test } from "bun:test";

import { paymentProcessor } from "../../../src/inbound/providers/payment_processor.ts";
import { json, sample, type TestApp } from "../../support/app.ts";
import {
  run,
  startForTest,
  stopAfterTest,
  stopAll,
  storedEvents,
} from "../../support/reconcile.ts";
import { fakeStripe } from "../../support/stripe.ts";

const dayMs = 86_400_000;
afterEach(stopAll);

async function start(env: Record<string, string> = {}) {
  const stripe = fakeStripe();
  stopAfterTest(() => stripe.stop());
  const app = await startForTest({
    PAYMENT_PROCESSOR_API_URL: stripe.url,
    PAYMENT_PROCESSOR_API_TOKEN: stripe.token,
    RECONCILE_MINUTES: "0",
    ...env,
  });
  /** An event that no endpoint has yet. */
  const happens = (type = "invoice.paid", atMs = app.clock.now()) => {
    const known = Object.hasOwn(paymentProcessor.samples, type) ? type : "invoice.paid";
    const { body } = sample("payment_processor", known, app.clock);
    const event = {
      body: { ...body, type, created: Math.floor(atMs / 1_000) },
      isDelivered: false,
    };
    stripe.events.unshift(event);
    return event;
  };
  return { app, stripe, happens };
}

const deliver = (app: TestApp, { body }: { readonly body: object }) =>
  app.deliver("payment_processor", JSON.stringify(body));

test("recovers the events that were not delivered, over all pages", async () => {
  const { app, stripe, happens } = await start();
  for (let index = 0; index < 230; index += 1) {
    const event = happens(index % 10 === 9 ? "customer.created" : "invoice.paid");
    if (index % 3 !== 0) continue;
    const { status } = await deliver(app, event);
    // Some are delivered to Skyhook, and not to another endpoint.
    event.isDelivered = status === 200 && index % 2 === 0;
  }
  expect(await run(app, "payment_processor")).toMatchObject({ status: "complete", error: null });
  const wanted = stripe.events.filter(({ body }) => body["type"] === "invoice.paid");
  const kept = await storedEvents(app, "payment_processor");
  const accepted = kept.filter((event) => event["status"] === "accepted");
  expect(accepted.map((event) => String(event["idempotencyKey"])).toSorted()).toEqual(
    wanted.map(({ body }) => `payment_processor:${String(body["id"])}`).toSorted(),
  );
  expect(stripe.requests[0]).toContain("delivery_success=false");
  expect(stripe.requests.length).toBeGreaterThan(1);
  expect((await run(app, "payment_processor")).counts).toMatchObject({ recovered: 0 });
});

test("recovers events of every listed type, of which one request names 20", async () => {
  const { app, happens } = await start();
  const types = Object.keys(paymentProcessor.samples);
  expect(types.length).toBeGreaterThan(20);
  for (const type of types) happens(type);
  // An update of a refund that did not fail is no listed event.
  const { body } = happens("refund.updated");
  Object(body).data.object = { object: "refund", status: "succeeded" };
  expect((await run(app, "payment_processor")).counts).toMatchObject({
    recovered: types.length,
    unreadable: 0,
  });
});

test("makes Stripe's later attempt a duplicate", async () => {
  const { app, happens } = await start();
  const event = happens();
  await run(app, "payment_processor");
  expect(await json(await deliver(app, event))).toMatchObject({ status: "duplicate" });
});

test("looks back 30 days, but not beyond the retention of events", async () => {
  for (const [days, expected] of [
    ["90", 2],
    ["10", 1],
  ] as const) {
    const { app, happens } = await start({ EVENT_RETENTION_DAYS: days });
    for (const age of [40, 29, 8]) happens("invoice.paid", app.clock.now() - age * dayMs);
    expect((await run(app, "payment_processor")).counts).toMatchObject({ recovered: expected });
  }
});

test("reports a key that is not accepted, with what it needs", async () => {
  const { app } = await start({ PAYMENT_PROCESSOR_API_TOKEN: "sk_wrong" });
  const { error } = await run(app, "payment_processor");
  expect(error).toContain("Invalid API Key provided");
  expect(error).toContain("Set PAYMENT_PROCESSOR_API_TOKEN to a new token: a secret key");
});
