import { parseMinor } from "../../base/money.ts";
import { paymentSample } from "../../inbound/providers/payment-sample.ts";
import type { Services } from "../../services.ts";

import { contextOf, historyMs, minuteMs, type Moment, moment, type Time } from "./past.ts";
import { bookingOf, chosen, customers, visitor } from "./people.ts";
import { plotOf } from "./scenes.ts";
import { send, type Sender } from "./webhooks.ts";

/** Bookings of the past are of flights on so many days. */
const soldDays = 7;
/** Of so many bookings, one is cancelled. */
const cancelledEvery = 20;

type Step = "hold" | "decline" | "pay" | "cancel" | "refund";

/** Holds: refunded after the bad deploy; paid by a second card; expired; waiting for the payment. */
const holds: readonly Readonly<Partial<Record<Step, Time>>>[] = [
  { hold: "14:01", pay: "14:03", cancel: "14:25", refund: "14:27" },
  { hold: 180, decline: 176, pay: 171 },
  { hold: 38 },
  { hold: 3 },
];

/** Bookings of the next days' flights, some cancelled, and holds of several lives. */
export async function pastSales(services: Services, sender: Sender): Promise<Moment[]> {
  const { bookings, flightLoads, users } = services;
  const contexts = await Promise.all(
    customers.map(async ({ firstName, lastName, email }) => {
      const { user } = await users.ensureUser({ name: `${firstName} ${lastName}`, email });
      return contextOf(user.id, "user");
    }),
  );
  await users.ensureUser(visitor);
  const today = Temporal.Now.plainDateISO("UTC");
  const loads = Array.from({ length: soldDays }, (_, days) =>
    flightLoads.ofDay(contextOf("demo", "operator"), today.add({ days: days + 1 })),
  );
  const departures = (await Promise.all(loads)).flatMap((load) => load.departures);
  const everyMinutes = historyMs / minuteMs / (departures.length + 2);
  const sales = departures.map(({ id, seats }, index) =>
    moment((index + 1) * everyMinutes, async () => {
      const ctx = chosen(contexts, index);
      const party = Math.min(Math.ceil(seats / 2), 1 + (index % 4));
      const body = bookingOf(id, party, chosen(customers, index));
      const { made } = await bookings.create(ctx, body, null);
      if (index % cancelledEvery === 3) await bookings.cancel(ctx, made.bookingId);
    }),
  );
  const lives = holds.flatMap((times, index) => {
    const ctx = chosen(contexts, index);
    const plot = { ...plotOf(index), customer: chosen(customers, index) };
    let booking = "";
    const pay = async (type: string, amountOf: "totalPrice" | "refund") => {
      const { currency, totalPrice, refund } = await bookings.read(ctx, booking);
      const amount = amountOf === "refund" ? (refund?.amount ?? 0) : totalPrice;
      const amountMinor = parseMinor(String(amount), currency);
      const about = { booking, amountMinor, currency, payment: `pi_${booking.slice(-12)}` };
      await send(sender, ["payment_processor", type], plot, {
        change: (sample, provider) => paymentSample(provider, type, sample, about),
      });
    };
    const steps: Readonly<Record<Step, () => Promise<unknown>>> = {
      async hold() {
        const flight = chosen(departures, departures.length - 1 - index).id;
        const wanted = { ...bookingOf(flight, 1, plot.customer), hold: true };
        booking = (await bookings.create(ctx, wanted, null)).made.bookingId;
      },
      decline: () => pay("payment_intent.payment_failed", "totalPrice"),
      pay: () => pay("payment_intent.succeeded", "totalPrice"),
      cancel: () => bookings.cancel(ctx, booking),
      refund: () => pay("charge.refunded", "refund"),
    };
    // Guarantee: the keys of `holds`.
    return (Object.keys(times) as Step[]).map((step) => moment(times[step] ?? 0, steps[step]));
  });
  return [...sales, ...lives];
}
