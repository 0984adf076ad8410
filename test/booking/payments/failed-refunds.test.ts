import { describe, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { bookingsPath as path } from "../../support/bookings.ts";
import { bookingBody, post } from "../../support/flights.ts";
import { untilLater } from "../../support/notifying.ts";
import { paymentsOf } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();
const { send, read, effect, events, typesOf, hold, cancel } = paymentsOf(app, "FR");

/** A booking that was paid and cancelled, with the id of its payment. */
async function cancelled() {
  const { id, payment } = await hold();
  await send("payment_intent.succeeded", { booking: id, payment });
  await cancel(id);
  return { id, payment };
}

/** A failed refund. Its events name no booking. */
const failed = (payment: string, part: string, amount: number, more: object = {}) => ({
  payment,
  amount,
  more: { id: part, status: "failed", ...more },
});

describe("a refund that fails", () => {
  test.each([
    ["refund.failed", {}],
    ["refund.updated", {}],
    ["charge.refund.updated", {}],
    ["refund.updated", { status: "canceled" }],
    ["charge.refund.updated", { status: "canceled" }],
  ])("lowers the sum by a %s %j, and notifies with the booking", async (type, more) => {
    const { id, payment } = await cancelled();
    await send("charge.refunded", { payment, amount: 49_950 });
    expect((await read(id))["refund"]).toMatchObject({ status: "succeeded" });
    expect(await effect(type, failed(payment, "re_1", 20_000, more))).toBe(
      `a refund of USD 200.00 of ${id} failed: USD 299.50 is refunded`,
    );
    const { refund, reference, history } = await read(id);
    expect(refund).toMatchObject({ status: "partial", refunded: 299.5 });
    const last = (await events(id)).at(-1);
    expect(last).toMatchObject({
      type: "payment.refund_failed",
      title: `Refund of USD 200.00 of booking ${String(reference)} failed: USD 299.50 of USD 499.50 due is refunded`,
    });
    expect(Object(history).at(-1)).toMatchObject({
      type: "refund.failed",
      title: "Refund of USD 200.00 failed: expired or canceled card",
      webhook: { provider: "payment_processor" },
      notifications: [{ status: "delivered" }],
    });
  });

  test("counts once, however many events report it", async () => {
    const { id, payment } = await cancelled();
    await send("charge.refunded", { payment, amount: 49_950 });
    for (const type of ["refund.failed", "refund.updated", "charge.refund.updated"]) {
      await send(type, failed(payment, "re_1", 20_000));
    }
    expect((await read(id))["refund"]).toMatchObject({ refunded: 299.5 });
    await send("refund.failed", failed(payment, "re_2", 29_950));
    expect((await read(id))["refund"]).toMatchObject({ refunded: 0, status: "pending" });
  });

  test("and then succeeds counts again", async () => {
    const { id, payment } = await cancelled();
    for (const [type, money] of [
      ["charge.refunded", { payment, amount: 49_950 }],
      ["refund.failed", failed(payment, "re_1", 49_950)],
      ["charge.refunded", { payment, amount: 49_950 }],
    ] as const) {
      await send(type, money);
      app.clock.advance(2_000);
    }
    expect((await read(id))["refund"]).toMatchObject({ refunded: 499.5, status: "succeeded" });
  });

  test("counts if its event comes before those of the refund and the payment", async () => {
    const { id, payment } = await hold();
    expect(await effect("refund.failed", failed(payment, "re_1", 10_000))).toBe(
      `no effect yet: waits for the payment ${payment} of a booking`,
    );
    await send("charge.refunded", { payment, amount: 10_000 });
    await send("payment_intent.succeeded", { booking: id, payment });
    await send("charge.refunded", { payment, amount: 30_000 });
    expect(await read(id)).toMatchObject({ status: "confirmed", refund: { refunded: 300 } });
    expect(await typesOf(id)).toContain("payment.refund_failed");
  });

  test("counts the same in whatever order its events arrive", async () => {
    const orders = [[0]];
    for (const index of [1, 2, 3]) {
      const shorter = orders.splice(0);
      for (const order of shorter)
        orders.push(...[...order, index].map((_, at) => order.toSpliced(at, 0, index)));
    }
    expect(orders).toHaveLength(24);
    for (const order of orders) {
      const { id, payment } = await hold();
      const all = [
        ["checkout.session.completed", { payment, booking: id, agoSeconds: 9 }],
        ["payment_intent.succeeded", { payment, agoSeconds: 9 }],
        ["charge.refunded", { payment, amount: 30_000, agoSeconds: 6 }],
        ["refund.failed", { ...failed(payment, "re_1", 10_000), agoSeconds: 3 }],
      ] as const;
      for (const index of order) await send(all[index]?.[0] ?? "", all[index]?.[1] ?? {});
      const state = async () => {
        const { status, payments, refund } = await read(id);
        const shown = Object(refund);
        return [status, Object(payments).length, shown.refunded].join(" ");
      };
      await untilLater(app, async () => (await state()) === "confirmed 1 200");
      expect((await typesOf(id)).match(/payment.refund_failed/g)).toHaveLength(1);
    }
  });

  test("that was not counted is notified too", async () => {
    const { id, payment } = await cancelled();
    expect(await effect("refund.failed", failed(payment, "re_1", 100))).toBe(
      `no effect: a refund of USD 1.00 of ${id} failed, and was not counted`,
    );
    expect((await events(id)).at(-1)?.type).toBe("payment.refund_failed");
  });

  test.each(["succeeded", "pending", "requires_action"])(
    "is no update of a refund that is %s",
    async (status) => {
      const { id, payment } = await cancelled();
      await send("charge.refunded", { payment, amount: 49_950 });
      expect(
        await effect("refund.updated", failed(payment, "re_1", 49_950, { status })),
      ).toBeNull();
      expect((await read(id))["refund"]).toMatchObject({ refunded: 499.5 });
    },
  );
});

test.each([true, false])(
  "a dispute is in the booking's history (paid by an event: %p)",
  async (isPaid) => {
    const { id: held, flight, payment } = await hold();
    const booked = await json(await app.as("user", path, post(bookingBody(flight))));
    const id = isPaid ? held : String(booked["bookingId"]);
    if (isPaid) await send("payment_intent.succeeded", { booking: id, payment });
    const dispute = (status: string) => ({
      payment,
      ...(!isPaid && { booking: id }),
      more: { id: "du_1", status, payment_intent: payment },
    });
    await send("charge.dispute.created", dispute("needs_response"));
    await send("charge.dispute.funds_withdrawn", dispute("needs_response"));
    await send("charge.dispute.closed", dispute("lost"));
    await send("charge.dispute.closed", dispute("lost"));
    const { history, payments, status } = await read(id);
    const entries = Object(history).filter(
      ({ type }: { type: string }) => type === "payment.disputed",
    );
    expect(entries.map(({ title }: { title: string }) => title)).toEqual([
      "Dispute of USD 499.50 opened: fraudulent",
      "Dispute of USD 499.50 funds withdrawn: fraudulent",
      "Dispute of USD 499.50 closed: lost",
    ]);
    expect(payments).toContainEqual(expect.objectContaining({ status: "disputed" }));
    expect(status).toBe("confirmed");
  },
);
