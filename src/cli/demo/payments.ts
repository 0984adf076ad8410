import type { Context } from "../../base/context.ts";
import { parseMinor } from "../../base/money.ts";
import type { DepartureLoad } from "../../booking/flights/flight-load.schema.ts";
import { paymentSample } from "../../inbound/providers/payment-sample.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import type { Services } from "../../services.ts";

import { castOf, played } from "./cast.ts";
import { type Sender, sendOne } from "./requests.ts";
import { bookingOf, customer } from "./sales.ts";
import type { Moment } from "./timeline.ts";

const minuteMs = 60_000;

/** A hold of the demo, filled in when it is made. */
interface Hold {
  bookingId: string;
  amountMinor: number;
  currency: string;
}

/** Holds of several lives: expired, confirmed by a payment, refunded, with a wrong amount, still waiting. */
export async function pastPayments(
  services: Services,
  sender: Sender,
  departures: readonly DepartureLoad[],
): Promise<Moment[]> {
  const provider = sender.providers.find(
    ({ id, payments }) => payments !== undefined && sender.secretOf(id) !== null,
  );
  // Without a provider of payments, no hold is paid.
  const possible = provider === undefined ? lives.filter((steps) => steps.length === 1) : lives;
  const free = departures.filter(({ seats }) => seats >= 8).slice(-possible.length);
  const made = await Promise.all(
    free.map(async ({ id }, index) => {
      const ctx = await customer(services, index);
      return life(services, sender, provider, ctx, id, possible[index] ?? []);
    }),
  );
  return made.flat();
}

type Step = readonly [
  minutesAgo: number,
  what: "hold" | "pay" | "pay less" | "fail" | "cancel" | "refund",
];

const lives: readonly (readonly Step[])[] = [
  [[38, "hold"]],
  [
    [180, "hold"],
    [171, "pay"],
  ],
  [
    [1_600, "hold"],
    [1_590, "pay"],
    [300, "cancel"],
    [240, "refund"],
  ],
  [
    [9, "hold"],
    [6, "pay less"],
  ],
  [
    [14, "hold"],
    [12, "fail"],
    [10, "pay"],
  ],
  [[3, "hold"]],
];

function life(
  services: Services,
  sender: Sender,
  provider: Provider | undefined,
  ctx: Context,
  flightId: number,
  steps: readonly Step[],
): Moment[] {
  const hold: Hold = { bookingId: "", amountMinor: 0, currency: "USD" };
  const pay = async (type: string, amountMinor: number) => {
    const sample = provider?.samples[type];
    if (provider === undefined || sample === undefined) return;
    const payment = `pi_${hold.bookingId.slice(-12)}`;
    const about = { booking: hold.bookingId, amountMinor, currency: hold.currency, payment };
    await sendOne(
      sender,
      provider,
      paymentSample(provider, type, played(sample, castOf(flightId)), about),
    );
  };
  const actions: Readonly<Record<Step[1], () => Promise<unknown>>> = {
    async hold() {
      const wanted = { ...bookingOf(flightId, 1, flightId), hold: true };
      const { made } = await services.bookings.create(ctx, wanted, null);
      const { bookingId, currency, totalPrice } = made;
      Object.assign(hold, {
        bookingId,
        currency,
        amountMinor: parseMinor(String(totalPrice), currency),
      });
    },
    pay: async () => pay("payment_intent.succeeded", hold.amountMinor),
    "pay less": async () => pay("payment_intent.succeeded", Math.floor(hold.amountMinor / 10)),
    fail: async () => pay("payment_intent.payment_failed", hold.amountMinor),
    cancel: async () => services.bookings.cancel(ctx, hold.bookingId),
    async refund() {
      const { refund } = await services.bookings.read(ctx, hold.bookingId);
      if (refund === null) return;
      await pay("charge.refunded", parseMinor(String(refund.amount), hold.currency));
    },
  };
  return steps.map(([minutesAgo, what]) => ({
    agoMs: minutesAgo * minuteMs,
    happen: actions[what],
  }));
}
