import { expect, test } from "bun:test";

import { positionIn } from "../../../src/base/ids.ts";
import { write } from "../../../src/db/statement.ts";
import { deleteSettledEvents } from "../../../src/events/retention/retention.sql.ts";
import { json } from "../../support/app.ts";
import { bookingsPath as path, expire } from "../../support/bookings.ts";
import { addFlight } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";
import { holdSeat, payer } from "../../support/payments.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();
const pay = payer(app);

let flights = 0;
async function hold(): Promise<string> {
  flights += 1;
  const { id } = await addFlight(app, { flightNumber: `BH${flights}` });
  return holdSeat(app, id);
}

const historyOf = async (id: string) =>
  itemsOf((await json(await app.as("admin", `${path}/${id}`)))["history"]);
const typesAndTitles = async (id: string) =>
  (await historyOf(id)).map(({ type, title }) => [type, title]);
const cancel = (id: string) => app.as("user", `${path}/${id}`, { method: "DELETE" });

const provider = "payment_processor";

test("names the webhook event that caused each entry", async () => {
  const id = await hold();
  const failed = await pay("payment_intent.payment_failed", { booking: id });
  const wrong = await pay("payment_intent.succeeded", { booking: id, amount: 1 });
  const paid = await pay("payment_intent.succeeded", { booking: id, payment: "pi_h" });
  const history = await historyOf(id);
  const deleted = false;
  expect(history.map(({ type, webhook }) => [type, webhook])).toEqual([
    ["booking.held", null],
    ["payment.failed", { provider, eventId: failed, deleted }],
    ["payment.mismatch", { provider, eventId: wrong, deleted }],
    ["payment.confirmed", { provider, eventId: paid, deleted }],
    ["booking.confirmed", { provider, eventId: paid, deleted }],
  ]);
  // The booking's own event.
  expect(history.at(-1)).toMatchObject({ eventId: expect.not.stringMatching(paid) });
});

test("marks a webhook event that retention has deleted", async () => {
  const id = await hold();
  const paid = await pay("payment_intent.succeeded", { booking: id });
  // Guarantee: the gateway makes ids with this prefix.
  const eventId = paid as `evt_${string}`;
  await app.services.storage.atomically(
    write(deleteSettledEvents, { positions: [positionIn(eventId)] }),
  );
  expect((await historyOf(id)).slice(-1)).toMatchObject([
    { type: "booking.confirmed", webhook: { provider, eventId, deleted: true } },
  ]);
});

test("shows how far a refund was at each event", async () => {
  const id = await hold();
  const money = { booking: id, payment: `pi_of_${id}` };
  await pay("payment_intent.succeeded", money);
  await cancel(id);
  const part = await pay("charge.refunded", { ...money, amount: 20_000 });
  const rest = await pay("charge.refunded", { ...money, amount: 49_950 });
  expect((await historyOf(id)).slice(-3)).toMatchObject([
    { type: "refund.pending", webhook: null },
    {
      type: "refund.partial",
      title: "Refunded USD 200.00 in all, of USD 499.50 due",
      webhook: { eventId: part },
    },
    {
      type: "refund.succeeded",
      title: "Refunded USD 499.50 in all, of USD 499.50 due",
      webhook: { eventId: rest },
    },
  ]);
});

test("shows a payment after the expiry as one that took seats again", async () => {
  const id = await hold();
  await expire(app, id);
  await pay("payment_intent.succeeded", { booking: id });
  expect(await typesAndTitles(id)).toEqual([
    ["booking.held", "Held: 1 seat for USD 499.50"],
    ["booking.expired", "Hold expired; seats released"],
    ["payment.confirmed", "Paid USD 499.50"],
    ["booking.confirmed", "Paid; seats taken again; booking confirmed"],
  ]);
});
