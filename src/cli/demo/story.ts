import { systemClock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { parseMinor } from "../../base/money.ts";
import { paymentSample } from "../../inbound/providers/payment-sample.ts";
import type { Sample } from "../../inbound/providers/provider.ts";
import type { Services } from "../../services.ts";

import type { Moment } from "./past.ts";
import { type SampleOptions, send, sendAny, type Sender } from "./webhooks.ts";

const minuteMs = 60_000;
/** How far back the demo's past goes. */
export const historyMs = 3 * 1_440 * minuteMs;
const webhookEveryMinutes = 35;
/** Bookings of the past are of flights on so many days. */
const soldDays = 7;

/** Minutes before now or, of yesterday, a time on this machine's clock. */
type Time = number | string;

const bad = "Charge cards before seats are held";

/** A sample with a repository, commit and customer of the story, instead of those that all samples share. */
const played =
  (commit = bad) =>
  (sample: Sample): Sample =>
  (fresh) => {
    const { headers, body } = sample(fresh);
    const text = JSON.stringify(body)
      .replaceAll(/\bweb\b/g, "booking-api")
      .replaceAll("Fix cart", commit)
      .replaceAll("kim@example.net", "noor.haddad@example.net")
      .replaceAll(/\bKim\b/g, "Noor Haddad")
      .replaceAll(/Refund for order 77|I would like my money back for order 77/g, "Charged twice");
    // Guarantee: names of a JSON object were replaced, none of which has a quote.
    return { headers, body: JSON.parse(text) as typeof body };
  };

const isRollback = { change: played(`Roll back: ${bad}`) };

/** A bad deploy, its rollback, a customer's message, and webhooks that are rejected, each for another reason. */
const story: readonly (readonly [Time, provider: string, type: string, how?: SampleOptions])[] = [
  ["13:51", "code_host", "workflow_run.completed"],
  ["14:02", "deploy_platform", "deploy.created"],
  ["14:04", "deploy_platform", "deploy.error"],
  ["14:09", "deploy_platform", "deploy.created", isRollback],
  ["14:11", "deploy_platform", "deploy.succeeded", isRollback],
  ["14:19", "shared_inbox", "message.received"],
  ["14:31", "shared_inbox", "message.sent"],
  [190, "deploy_platform", "deploy.created", { secretOf: "shared_inbox" }],
  [52, "code_host", "workflow_run.completed", { isAltered: true }],
];

type Step = "hold" | "pay" | "cancel" | "refund";

/** Holds: of the customer, who is refunded; paid; expired; waiting for the payment. */
const holds: readonly Readonly<Partial<Record<Step, Time>>>[] = [
  { hold: "14:01", pay: "14:03", cancel: "14:25", refund: "14:27" },
  { hold: 180, pay: 171 },
  { hold: 38 },
  { hold: 3 },
];

/** Everything that happened before the demo began. */
export async function pastOf(services: Services, sender: Sender): Promise<Moment[]> {
  const minutes = historyMs / minuteMs;
  const webhooks = Array.from({ length: Math.floor(minutes / webhookEveryMinutes) }, (_, index) =>
    moment(minutes - index * webhookEveryMinutes, () => sendAny(sender, index)),
  );
  const scenes = story.map(([time, id, type, how]) =>
    moment(time, () => send(sender, id, type, { change: played(), ...how })),
  );
  return [...webhooks, ...scenes, ...(await pastBookings(services, sender))];
}

/** Bookings of the next days' flights, some cancelled, and holds of several lives. */
async function pastBookings(services: Services, sender: Sender): Promise<Moment[]> {
  const { bookings, flightLoads, users } = services;
  const { user } = await users.ensureUser({ name: "Noor Haddad", email: "noor@demo.example" });
  const ctx = contextOf(user.id, "user");
  const today = Temporal.Now.plainDateISO("UTC");
  const loads = Array.from({ length: soldDays }, (_, days) =>
    flightLoads.ofDay(contextOf("demo", "operator"), today.add({ days: days + 1 })),
  );
  const departures = (await Promise.all(loads)).flatMap((load) => load.departures);
  const sales = departures.map(({ id, seats }, index) =>
    moment(((index + 1) * historyMs) / minuteMs / (departures.length + 2), async () => {
      const body = bookingOf(id, Math.ceil(seats / (2 + (index % 3))));
      const { made } = await bookings.create(ctx, body, null);
      if (index % 10 === 3) await bookings.cancel(ctx, made.bookingId);
    }),
  );
  const lives = holds.flatMap((times, index) => {
    let booking = "";
    const pay = async (type: string, amountOf: "totalPrice" | "refund") => {
      const { currency, totalPrice, refund } = await bookings.read(ctx, booking);
      const amount = amountOf === "refund" ? (refund?.amount ?? 0) : totalPrice;
      const amountMinor = parseMinor(String(amount), currency);
      const about = { booking, amountMinor, currency, payment: `pi_${booking.slice(-12)}` };
      await send(sender, "payment_processor", type, {
        change: (sample, provider) => paymentSample(provider, type, played()(sample), about),
      });
    };
    const steps: Readonly<Record<Step, () => Promise<unknown>>> = {
      async hold() {
        const wanted = { ...bookingOf(departures.at(-1 - index)?.id ?? 0, 1), hold: true };
        booking = (await bookings.create(ctx, wanted, null)).made.bookingId;
      },
      pay: () => pay("payment_intent.succeeded", "totalPrice"),
      cancel: () => bookings.cancel(ctx, booking),
      refund: () => pay("charge.refunded", "refund"),
    };
    // Guarantee: the keys of `holds`.
    return (Object.keys(times) as Step[]).map((step) => moment(times[step] ?? 0, steps[step]));
  });
  return [...sales, ...lives];
}

function moment(time: Time, happen: Moment["happen"]): Moment {
  if (typeof time === "number") return { agoMs: Math.round(time * minuteMs), happen };
  const timeZone = Temporal.Now.timeZoneId();
  const yesterday = Temporal.Now.plainDateISO(timeZone).subtract({ days: 1 });
  const at = yesterday.toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds;
  return { agoMs: systemClock.now() - at, happen };
}

export function contextOf(id: string, role: "user" | "operator" | "admin"): Context {
  return { actor: { id, roles: [role] }, expiresAt: new Date(8.64e15), requestId: "demo" };
}

/** The body of a booking of so many seats, for people who travel together. */
export function bookingOf(flightId: number, seats: number) {
  const email = "noor@demo.example";
  const noor = { lastName: "Haddad", email, dateOfBirth: "1990-04-12" };
  const passengers = Array.from({ length: seats }, (_, index) => ({
    ...noor,
    firstName: ["Noor", "Leila", "Jonas"][index % 3] ?? "",
    passportNumber: `X${1_000_000 + index}`,
  }));
  return { flightId, contactEmail: email, paymentMethod: "card", passengers };
}
