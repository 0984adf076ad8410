import { describe, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { bookingsPath as path, eventsAbout } from "../../support/bookings.ts";
import { untilLater } from "../../support/notifying.ts";
import { paymentsOf } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();
const { send, read, effect, events, typesOf, hold, cancel } = paymentsOf(app, "CO");

const completed = "checkout.session.completed";
const succeeded = "checkout.session.async_payment_succeeded";
const intent = "payment_intent.succeeded";

describe("a Checkout session", () => {
  test.each([
    ["client_reference_id", (name: string) => ({ more: { client_reference_id: name } })],
    ["metadata", (name: string) => ({ booking: name })],
    [
      "metadata before client_reference_id",
      (name: string) => ({ booking: name, more: { client_reference_id: "cart-17" } }),
    ],
    [
      "client_reference_id of a Payment Link",
      (name: string) => ({ more: { client_reference_id: name, payment_link: "plink_1" } }),
    ],
    ["lower case", (name: string) => ({ more: { client_reference_id: name.toLowerCase() } })],
    ["groups", (name: string) => ({ booking: ` ${name.slice(0, 3)}-${name.slice(3)} ` })],
  ] as const)("confirms the hold that it names by %s", async (_, naming) => {
    for (const by of ["id", "reference"]) {
      const { id, payment } = await hold();
      const name = by === "id" ? id : String((await read(id))["reference"]);
      expect(await effect(completed, { payment, ...naming(name) })).toBe(`confirmed ${id}`);
      expect(await read(id)).toMatchObject({ status: "confirmed" });
    }
  });

  test.each([
    ["first", [intent, completed]],
    ["last", [completed, intent]],
  ])("is paid once if the event of its intent comes %s", async (_, order) => {
    const { id, payment } = await hold();
    for (const type of order) {
      await send(type, { payment, ...(type === completed && { booking: id }) });
    }
    expect(await read(id)).toMatchObject({
      status: "confirmed",
      payments: [{ status: "confirmed", amount: 499.5 }],
    });
    await cancel(id);
    expect((await events(id)).at(-1)).toMatchObject({
      url: `http://localhost:3111/console#/bookings/${id}`,
      data: {
        refundDue: 499.5,
        currency: "USD",
        refundStatus: "pending",
        provider: "payment_processor",
        payment,
      },
    });
    await send("charge.refunded", { payment, amount: 10_000 });
    expect(await read(id)).toMatchObject({ refund: { refunded: 100, status: "partial" } });
    expect(await typesOf(id)).toBe(
      "booking.held booking.confirmed booking.cancelled booking.refunded",
    );
  });

  test.each([
    ["amount", { amount: 10_000 }, "USD 100.00 was paid"],
    ["currency", { currency: "eur" }, "EUR 499.50 was paid"],
    [
      "discount of all",
      { amount: 0, more: { payment_intent: null, payment_status: "no_payment_required" } },
      "USD 0.00 was paid",
    ],
  ])("of another %s leaves the hold and notifies operators once", async (_, wrong, why) => {
    const { id, payment } = await hold();
    expect(await effect(completed, { booking: id, payment, ...wrong })).toContain(why);
    // Its intent names no booking.
    const { amount, currency } = { amount: 49_950, currency: "usd", ...wrong };
    if (amount > 0) await send(intent, { payment, amount, currency });
    expect(await read(id)).toMatchObject({ status: "held" });
    expect(await typesOf(id)).toBe("booking.held payment.mismatch");
  });

  test("that is not paid yet waits for its payment", async () => {
    const { id, payment } = await hold();
    const unpaid = { booking: id, payment, more: { payment_status: "unpaid" } };
    expect(await effect(completed, unpaid)).toBe(
      `no effect: the payment of ${id} has not succeeded yet`,
    );
    expect(await read(id)).toMatchObject({ status: "held", payments: [] });
    expect(await effect(succeeded, { booking: id, payment })).toBe(`confirmed ${id}`);
  });

  test("whose payment fails later leaves the hold", async () => {
    const { id, payment } = await hold();
    const failed = "checkout.session.async_payment_failed";
    expect(await effect(failed, { booking: id, payment })).toBe(
      `no effect: the payment of ${id} failed`,
    );
    expect(await read(id)).toMatchObject({ status: "held", payments: [{ status: "failed" }] });
  });

  test.each([
    ["saves a card", { mode: "setup", payment_status: "no_payment_required", currency: null }],
    ["has a state that is not known", { payment_status: "processing" }],
  ])("that %s is no payment", async (_, more) => {
    const { id } = await hold();
    const nothing = { amount: null, more: { payment_intent: null, ...more } };
    expect(await effect(completed, { booking: id, ...nothing })).toBeNull();
    expect(await typesOf(id)).toBe("booking.held");
  });
});

describe("a payment that names no booking", () => {
  const unassigned = async (payment: string) =>
    (await eventsAbout(app, `payment/${payment}`)).map(({ type, title }) => ({ type, title }));
  const isUnassigned = {
    type: "payment.unassigned",
    title: "USD 499.50 was paid, but names no booking, while bookings wait for their payment",
  };

  test.each([
    ["none", {}, "no effect yet: the payment names no booking"],
    [
      "one that does not exist",
      { more: { client_reference_id: "cart-17" } },
      "no effect: there is no booking cart-17",
    ],
  ])("is notified once if it names %s", async (_, naming, why) => {
    const { payment } = await hold();
    expect(await effect(completed, { payment, ...naming })).toBe(why);
    await send(intent, { payment });
    expect(await unassigned(payment)).toEqual([]);
    await untilLater(app, async () => (await unassigned(payment)).length > 0, 1_000);
    for (let step = 0; step < 5; step += 1) app.clock.advance(20_000);
    expect(await unassigned(payment)).toEqual([isUnassigned]);
  });

  test.each([
    ["without an event", 1_000],
    ["after operators were notified", 60_000],
  ])("waits for the session that names it, and is settled by it: %s", async (_, afterMs) => {
    const { id, payment } = await hold();
    const first = await send(intent, { payment });
    app.clock.advance(afterMs);
    expect(await effect(completed, { booking: id, payment })).toBe(`confirmed ${id}`);
    const effectOf = async () =>
      (await json(await app.as("operator", `/v1/events/${first}`)))["effect"];
    await untilLater(app, async () => (await effectOf()) === `no effect: already confirmed ${id}`);
    if (afterMs === 1_000) {
      app.clock.advance(60_000);
      expect(await unassigned(payment)).toEqual([]);
    }
    expect(await read(id)).toMatchObject({ payments: [{ status: "confirmed" }] });
  });

  test("is not notified without a waiting hold, in test mode or for another account", async () => {
    const { payment } = await hold();
    const id = await app.deliver(
      "payment_processor",
      JSON.stringify({
        id: "evt_x",
        type: intent,
        livemode: false,
        data: { object: { id: payment, amount_received: 1, currency: "usd" } },
      }),
    );
    expect(id.status).toBe(200);
    app.clock.advance(60 * 60_000);
    await untilLater(app, async () => (await holds()) === 0, 1_000);
    expect(await effect(intent, { payment: `${payment}_late` })).toBeNull();
    app.clock.advance(60_000);
    expect(await unassigned(payment)).toEqual([]);
    expect(await unassigned(`${payment}_late`)).toEqual([]);
  });

  const holds = async () =>
    Object(await json(await app.as("admin", `${path}?status=held`)))["data"].length;
});
