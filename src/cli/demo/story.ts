import { systemClock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { parseMinor } from "../../base/money.ts";
import { paymentSample } from "../../inbound/providers/payment-sample.ts";
import type { Sample } from "../../inbound/providers/provider.ts";
import type { Services } from "../../services.ts";

import type { Moment } from "./past.ts";
import { send, sendAny, type Sender } from "./webhooks.ts";

const [minuteMs, dayMs] = [60_000, 86_400_000];
/** How far back the demo's past goes. */
export const historyMs = 3 * dayMs;
const webhookEveryMs = 35 * minuteMs;
/** Bookings of the past are of flights on so many days. */
const soldDays = 7;

/** Minutes before now or, of yesterday, a time on this machine's clock. */
type Time = number | string;

/** What the samples of the story have instead of their own repository, commit and customer. */
const cast: readonly (readonly [RegExp, string])[] = [
  [/\bweb\b/g, "booking-api"],
  [/Fix cart/g, "Charge cards before seats are held"],
  [/kim@example\.net/g, "noor.haddad@example.net"],
  [/\bKim\b/g, "Noor Haddad"],
  [/Refund for order 77|I would like my money back for order 77/g, "Charged, but no seat"],
];

type Oddity = "rollback" | "altered" | "space" | "other secret";

/** A bad deploy, its rollback, a customer's message, and webhooks that are rejected, each for another reason. */
const story: readonly (readonly [Time, provider: string, type: string, oddity?: Oddity])[] = [
  ["13:51", "code_host", "workflow_run.completed"],
  ["14:02", "deploy_platform", "deploy.created"],
  ["14:04", "deploy_platform", "deploy.error"],
  ["14:09", "deploy_platform", "deploy.created", "rollback"],
  ["14:11", "deploy_platform", "deploy.succeeded", "rollback"],
  ["14:19", "shared_inbox", "message.received"],
  ["14:31", "shared_inbox", "message.sent"],
  [190, "deploy_platform", "deploy.created", "other secret"],
  [84, "task_tracker", "task.created", "space"],
  [52, "code_host", "workflow_run.completed", "altered"],
];

/** Holds: of the customer, who is refunded; paid; expired; waiting for the payment. */
const holds: readonly (readonly (readonly [Time, "hold" | "pay" | "cancel" | "refund"])[])[] = [
  [
    ["14:01", "hold"],
    ["14:03", "pay"],
    ["14:25", "cancel"],
    ["14:27", "refund"],
  ],
  [
    [180, "hold"],
    [171, "pay"],
  ],
  [[38, "hold"]],
  [[3, "hold"]],
];

/** Everything that happened before the demo began. */
export async function pastOf(services: Services, sender: Sender): Promise<Moment[]> {
  const webhooks = Array.from({ length: historyMs / webhookEveryMs }, (_, index) =>
    moment((historyMs - index * webhookEveryMs) / minuteMs, () => sendAny(sender, index)),
  );
  const scenes = story.map(([time, id, type, oddity]) =>
    moment(time, async () => {
      const provider = sender.providers.find((each) => each.id === id);
      const sample = provider?.samples[type];
      if (provider === undefined || sample === undefined) return;
      const wrong = {
        space: `${sender.secretOf(id)} `,
        "other secret": sender.secretOf("shared_inbox"),
      };
      const secret = oddity === "space" || oddity === "other secret" ? wrong[oddity] : undefined;
      const isAltered = oddity === "altered";
      await send(sender, provider, played(sample, oddity === "rollback"), { secret, isAltered });
    }),
  );
  return [...webhooks, ...scenes, ...(await pastBookings(services, sender))];
}

/** A sample with the cast of the story. */
function played(sample: Sample, isRollback = false): Sample {
  return (fresh) => {
    const { headers, body } = sample(fresh);
    const title = isRollback ? "Roll back: Fix cart" : "Fix cart";
    const text = JSON.stringify(body).replace("Fix cart", title);
    const changed = cast.reduce((all, [from, to]) => all.replace(from, to), text);
    // Guarantee: names of a JSON object were replaced, none of which has a quote.
    return { headers, body: JSON.parse(changed) as typeof body };
  };
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
  const lives = holds.flatMap((steps, index) => {
    const departure = departures.at(-1 - index);
    return departure === undefined ? [] : holdOf(services, sender, ctx, departure.id, steps);
  });
  return [...sales, ...lives];
}

function holdOf(
  { bookings }: Services,
  sender: Sender,
  ctx: Context,
  flightId: number,
  steps: (typeof holds)[number],
): Moment[] {
  const provider = sender.providers.find(({ payments }) => payments !== undefined);
  let booking = "";
  const pay = async (type: string, amountOf: "totalPrice" | "refund") => {
    const sample = provider?.samples[type];
    if (provider === undefined || sample === undefined) return;
    const { currency, totalPrice, refund } = await bookings.read(ctx, booking);
    const amount = amountOf === "refund" ? (refund?.amount ?? 0) : totalPrice;
    const amountMinor = parseMinor(String(amount), currency);
    const about = { booking, amountMinor, currency, payment: `pi_${booking.slice(-12)}` };
    await send(sender, provider, paymentSample(provider, type, played(sample), about));
  };
  const actions = {
    async hold() {
      const wanted = { ...bookingOf(flightId, 1), hold: true };
      booking = (await bookings.create(ctx, wanted, null)).made.bookingId;
    },
    pay: () => pay("payment_intent.succeeded", "totalPrice"),
    // Without a provider of payments, the hold has expired.
    cancel: async () => (provider === undefined ? undefined : bookings.cancel(ctx, booking)),
    refund: () => pay("charge.refunded", "refund"),
  };
  return steps.map(([time, step]) => moment(time, actions[step]));
}

function moment(time: Time, happen: Moment["happen"]): Moment {
  if (typeof time === "number") return { agoMs: Math.round(time * minuteMs), happen };
  const zone = Temporal.Now.timeZoneId();
  const yesterday = Temporal.Now.plainDateISO(zone).subtract({ days: 1 });
  const at = yesterday.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds;
  return { agoMs: systemClock.now() - at, happen };
}

export function contextOf(id: string, role: "user" | "operator" | "admin"): Context {
  return { actor: { id, roles: [role] }, expiresAt: new Date(8.64e15), requestId: "demo" };
}

/** The body of a booking of so many seats, for people who travel together. */
function bookingOf(flightId: number, seats: number) {
  const contactEmail = "noor@demo.example";
  const noor = { lastName: "Haddad", email: contactEmail, dateOfBirth: "1990-04-12" };
  const passengers = Array.from({ length: seats }, (_, index) => ({
    ...noor,
    firstName: ["Noor", "Leila", "Jonas"][index % 3] ?? "",
    passportNumber: `X${1_000_000 + index}`,
  }));
  return { flightId, contactEmail, paymentMethod: "card", passengers };
}
