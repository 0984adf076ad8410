import { describe, expect, test } from "bun:test";

import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";
import { json, jsonWith, sample, type TestApp } from "../../support/app.ts";
import { addFlight } from "../../support/flights.ts";
import { folderForTests } from "../../support/folder.ts";
import { holdSeat, payer } from "../../support/payments.ts";
import { run } from "../../support/reconcile.ts";
import { resources } from "../../support/resources.ts";
import { fileProviders } from "../../support/signed-request.ts";
import { fakeStripe } from "../../support/stripe.ts";

const folder = folderForTests();
const taken = resources();

const bank = `displayName: Bank
signature:
  kind: hmac
  algorithm: sha256
  encoding: hex
  from: header.x-bank-signature
  signs: "{body}"
deliveryId: /id
event: "{/kind}"
bookingReference: /order/note
payment:
  kinds: { transfer.received: paid, transfer.rejected: failed, transfer.returned: refunded }
  amount: { paid: /value/amount, failed: /value/amount, refunded: /returned/0/total }
  currency: /value/currency
  id: /order/id
  unit: major
events:
  transfer.received: { type: bank.paid }
  transfer.rejected: {}
  transfer.returned: { bookingReference: /about }
samples: { transfer.received: { body: { id: "{id}", kind: transfer.received } } }
`;
const hold = async (app: TestApp) => holdSeat(app, (await addFlight(app)).id);

async function read(app: TestApp, id: string) {
  return json(await app.as("user", `/v1/api/bookings/${id}`));
}

describe("a provider of a file", () => {
  async function startBank(content = bank) {
    const { env, post } = fileProviders(folder, [], { bank: content });
    const app = await taken.app(env);
    /** Delivers a body and returns the effect of its event. */
    const deliver = async (body: object): Promise<unknown> => {
      const sent = { headers: {}, body: { id: crypto.randomUUID(), ...body } };
      const { id } = await jsonWith(await post(app, "bank", sent), 200);
      return (await json(await app.as("operator", `/v1/events/${String(id)}`)))["effect"];
    };
    return { app, deliver };
  }

  test("pays for bookings and refunds them, with decimals as texts", async () => {
    const { app, deliver } = await startBank();
    const booking = await hold(app);
    const order = { id: "order-1", note: booking };
    const value = { amount: "499.50", currency: "USD" };
    expect(await deliver({ kind: "transfer.rejected", order, value })).toBe(
      `no effect: the payment of ${booking} failed`,
    );
    for (const amount of ["499,50", "4.995e2", "499.501", "-499.50", " 499.50", ""]) {
      const wrong = { ...value, amount };
      expect(await deliver({ kind: "transfer.received", order, value: wrong })).toContain(
        `but ${booking} costs USD 499.50`,
      );
    }
    expect(await deliver({ kind: "transfer.received", order, value })).toBe(`confirmed ${booking}`);
    await app.as("user", `/v1/api/bookings/${booking}`, { method: "DELETE" });
    const returned = { kind: "transfer.returned", value, returned: [{ total: 499.5 }] };
    expect(await deliver({ ...returned, order: { id: "order-1" } })).toBe(
      `refunded USD 499.50 of ${booking}`,
    );
    expect(await read(app, booking)).toMatchObject({ refund: { status: "succeeded" } });
  });

  test("lowers the sum when a refund fails", async () => {
    const failing = bank
      .replace("refunded }", "refunded, transfer.bounced: refund_failed }")
      .replace("/returned/0/total }", "/returned/0/total, refund_failed: /value/amount }")
      .replace("  unit: major", "  refund: /refund\n  unit: major")
      .replace("events:", "events:\n  transfer.bounced: {}");
    const { app, deliver } = await startBank(failing);
    const booking = await hold(app);
    const value = { amount: "499.50", currency: "USD" };
    const order = { id: "order-1", note: booking };
    await deliver({ kind: "transfer.received", order, value });
    await app.as("user", `/v1/api/bookings/${booking}`, { method: "DELETE" });
    await deliver({ kind: "transfer.returned", order, value, returned: [{ total: 499.5 }] });
    const bounced = { kind: "transfer.bounced", order, value, refund: "r-1" };
    expect(await deliver(bounced)).toContain("failed: USD 0.00 is refunded");
    expect(await deliver(bounced)).toContain("reported before");
    expect(await read(app, booking)).toMatchObject({ refund: { status: "pending", refunded: 0 } });
  });

  test("without ids of payments neither pays nor refunds for another provider", async () => {
    const { app, deliver } = await startBank(bank.replace("  id: /order/id\n", ""));
    const booking = await hold(app);
    await payer(app)("payment_intent.succeeded", { booking, payment: "pi_1" });
    const value = { amount: "499.50", currency: "USD" };
    const order = { note: booking };
    expect(await deliver({ kind: "transfer.received", order, value })).toBe(
      `no effect: ${booking} was paid before`,
    );
    await app.as("user", `/v1/api/bookings/${booking}`, { method: "DELETE" });
    const returned = { kind: "transfer.returned", value, returned: [{ total: 499.5 }] };
    expect(await deliver({ ...returned, about: booking })).toBe(
      `no effect: refund of a payment that did not confirm ${booking}`,
    );
    expect(await read(app, booking)).toMatchObject({
      payments: [{ status: "confirmed" }, { status: "surplus" }],
      refund: { refunded: 0, status: "pending" },
    });
  });

  test("does not take a payment of another provider with the same id for its own", async () => {
    const { app, deliver } = await startBank(bank);
    const booking = await hold(app);
    await payer(app)("payment_intent.succeeded", { booking, payment: "p_1" });
    const order = { id: "p_1", note: booking };
    const value = { amount: "499.50", currency: "USD" };
    expect(await deliver({ kind: "transfer.received", order, value })).toBe(
      `no effect: ${booking} was paid before`,
    );
    expect(await read(app, booking)).toMatchObject({
      payments: [{ status: "confirmed" }, { status: "surplus" }],
    });
  });

  test("without ids of payments pays for bookings and refunds them", async () => {
    const { app, deliver } = await startBank(bank.replace("  id: /order/id\n", ""));
    const booking = await hold(app);
    const value = { amount: "499.50", currency: "USD" };
    const paid = { kind: "transfer.received", order: { note: booking }, value };
    expect(await deliver(paid)).toBe(`confirmed ${booking}`);
    expect(await deliver(paid)).toBe(`no effect: already confirmed ${booking}`);
    await app.as("user", `/v1/api/bookings/${booking}`, { method: "DELETE" });
    expect(await deliver(paid)).toBe(`no effect: ${booking} is cancelled`);
    const returned = { kind: "transfer.returned", value, returned: [{ total: 499.5 }] };
    expect(await deliver({ ...returned, about: booking })).toBe(
      `refunded USD 499.50 of ${booking}`,
    );
    expect(await read(app, booking)).toMatchObject({
      payments: [{ status: "confirmed" }],
      refund: { status: "succeeded" },
    });
  });

  test.each([
    [`test: { at: /live, is: "false" }`, { live: "false" }],
    ["test: { at: /meta/test_mode, is: true }", { meta: { test_mode: true } }],
  ])("has no effect by a payment that is marked as a test: %s", async (mark, marked) => {
    const { app, deliver } = await startBank(
      bank.replace("  unit: major\n", `  unit: major\n  ${mark}\n`),
    );
    const booking = await hold(app);
    const paid = {
      kind: "transfer.received",
      order: { id: "order-1", note: booking },
      value: { amount: "499.50", currency: "USD" },
    };
    expect(await deliver({ ...paid, ...marked })).toBe(
      "no effect: a test payment, and PAYMENT_PROCESSOR_TEST_MODE is off",
    );
    expect(await deliver({ ...paid, live: "true", meta: { test_mode: false } })).toBe(
      `confirmed ${booking}`,
    );
  });

  test("has another payment with the same id than another provider", async () => {
    const { app, deliver } = await startBank();
    const booking = await hold(app);
    await payer(app)("payment_intent.succeeded", { booking, payment: "pi_1", amount: 1 });
    const paid = {
      order: { id: "pi_1", note: booking },
      value: { amount: 499.5, currency: "usd" },
    };
    expect(await deliver({ kind: "transfer.received", ...paid })).toBe(`confirmed ${booking}`);
  });
});

test.each([
  ["transfer.received: paid", "opened: paid", '"opened" is none of "events": list it there too'],
  ["bookingReference: /order/note", "", 'Write "bookingReference"'],
  ["paid: /value/amount, ", "", 'Write "paid" in "amount"'],
  ["id: /order/id", "id: { paid: /order/id }", 'Write "refunded" in "id"'],
  ["unit: major", "unit: cents", "unit"],
  [
    "refunded }\n  amount: {",
    "refund_failed }\n  amount: { refund_failed: /value/amount,",
    'Write "refund": where "transfer.returned" has the id of the refund that failed',
  ],
])("a provider file with %p replaced by %p is refused", (part, other, message) => {
  expect(bank).toContain(part);
  expect(() => readProviderFile("bank.yaml", bank.replace(part, other))).toThrow(message);
});

test("a payment that the provider's log recovers confirms the booking once", async () => {
  const stripe = fakeStripe();
  taken.ends.push(() => stripe.stop());
  const app = await taken.app({
    PAYMENT_PROCESSOR_API_URL: stripe.url,
    PAYMENT_PROCESSOR_API_TOKEN: stripe.token,
    RECONCILE_MINUTES: "0",
  });
  const booking = await hold(app);
  const { body } = sample("payment_processor", "payment_intent.succeeded", app.clock);
  const object = { id: "pi_1", amount_received: 49_950, currency: "usd", metadata: { booking } };
  const event = { ...body, data: { object } };
  stripe.events.unshift({ body: event, isDelivered: false });
  expect(await run(app, "payment_processor")).toMatchObject({ status: "complete" });
  expect(await read(app, booking)).toMatchObject({ status: "confirmed" });
  const late = await json(await app.deliver("payment_processor", JSON.stringify(event)));
  expect(late).toMatchObject({ status: "duplicate" });
  const timeline = await json(await app.as("operator", `/v1/events/${String(late["id"])}`));
  expect(timeline).toMatchObject({ recovered: true, effect: `confirmed ${booking}` });
  expect((await read(app, booking))["payments"]).toHaveLength(1);
});
