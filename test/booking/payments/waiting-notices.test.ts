import { describe, expect, test } from "bun:test";

import { waitingNoticesOf } from "../../../src/booking/payments/waiting-notices.sql.ts";
import { waitingNotices } from "../../../src/booking/payments/waiting-notices.ts";
import type { Storage } from "../../../src/db/storage.ts";
import { json, until } from "../../support/app.ts";
import { addFlight } from "../../support/flights.ts";
import { holdSeat, payer } from "../../support/payments.ts";
import { appPerTest } from "../../support/running-app.ts";

const payment = { provider: "payment_processor", reference: "pi_1" };

const app = appPerTest();

/** Another instance on the app's database. `onLook` is called when it has read the refunds of a payment. */
function otherInstance(onLook: (looks: number) => void) {
  const { storage, log } = app.services;
  const state = { looks: 0, writes: 0 };
  const all: Storage["all"] = async (statement, parameters) => {
    const rows = await storage.all(statement, parameters);
    if (Object.is(statement, waitingNoticesOf)) onLook((state.looks += 1));
    return rows;
  };
  const atomically: Storage["atomically"] = (...writes) => {
    state.writes += 1;
    return storage.atomically(...writes);
  };
  const waiting = waitingNotices({
    storage: { ...storage, all, atomically },
    effectOf: () =>
      Promise.resolve({ explanation: "", logged: {}, writes: () => [], committed() {} }),
    notifying: () => ({ writes: [], committed() {} }),
    clock: app.clock,
    log,
  });
  return { waiting, state };
}

describe("a refund that waits for its payment", () => {
  test("is looked for again if something commits during the look", async () => {
    const { waiting, state } = otherInstance((looks) => {
      if (looks === 1) waiting.committed(payment);
    });
    waiting.start();
    waiting.committed(payment);
    await until(() => state.looks === 2);
    await waiting.stop();
  });

  test("is not written again while only other payments are known", async () => {
    const pay = payer(app);
    const { id: flight } = await addFlight(app);
    await pay("payment_intent.succeeded", {
      payment: "pi_other",
      booking: await holdSeat(app, flight),
    });
    const refund = await pay("charge.refunded", { payment: "pi_1", amount: 10_000 });
    const { waiting, state } = otherInstance(() => {});
    waiting.start();
    waiting.committed(payment);
    await until(() => state.looks === 1);
    await waiting.stop();
    expect(state.writes).toBe(0);
    expect(await app.services.storage.all(waitingNoticesOf, payment)).toMatchObject([
      { eventId: refund, isPaymentKnown: false },
    ]);
    await pay("payment_intent.succeeded", {
      payment: "pi_1",
      booking: await holdSeat(app, flight),
    });
    const event = await json(await app.as("operator", `/v1/events/${refund}`));
    expect(event["effect"]).toStartWith("refunded USD 100.00");
  });
});
