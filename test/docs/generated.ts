import { readFileSync } from "node:fs";
import { join } from "node:path";

import { sizingTable } from "../../bench/sizing.ts";
import type { MakeId } from "../../src/base/ids.ts";
import { type PaymentProblem, paymentProblems } from "../../src/booking/booking-state.ts";
import { emptyBooking } from "../../src/booking/booking.ts";
import {
  bookingEvent,
  bookingEventTypes,
  bookingNotification,
} from "../../src/booking/bookings/booking-event.ts";
import type { BookingOnFlight } from "../../src/booking/bookings/bookings.sql.ts";
import { problemEvent, refundEvent } from "../../src/booking/bookings/payment-event.ts";
import type { Event, StoredEvent } from "../../src/event/event.ts";
import type { NewNotification } from "../../src/event/new-notification.ts";
import type { PaymentNotice } from "../../src/inbound/payment-notice.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { publishedSchema } from "../../src/inbound/providers/files/provider-schema.rest.ts";
import { interpret, notificationsOf } from "../../src/inbound/providers/interpret.ts";
import type { Provider, Sample } from "../../src/inbound/providers/provider.ts";
import { eventIdentity } from "../../src/inbound/receive/event-identity.ts";
import { cloudEvent } from "../../src/outbound/formats/cloud-event.ts";
import { problems } from "../../src/web/errors.ts";

import {
  catalogueTable,
  credentialLines,
  credentials,
  identityTable,
  providerTable,
  settingsTable,
  transitionTable,
} from "./tables.ts";

/** A part of a file that is written from code. */
interface GeneratedPart {
  readonly file: string;
  readonly name: string;
  readonly text: string;
  /** What it replaces; by default, all between `<!-- name -->` and `<!-- /name -->`. */
  readonly place?: RegExp;
}

const now = new Date("2026-11-21T09:12:44.120Z");
const uuid = "019a9f0c5d7b7c3a8e21d4f60b7a9c55";
const eventId = `evt_${uuid}` as const;
const notificationId = "ntf_019a9f0c5d7c7f0e9a4b1c2d3e4f5a6b";
const deliveryId = "0b9f3c52-8c1e-4d7a-9f26-51a1c0de7e11";

const results = readFileSync(join(import.meta.dir, "../../bench/RESULTS.md"), "utf8");

export const generatedParts = (): readonly GeneratedPart[] => [
  { file: "docs/operations.md", name: "settings", text: settingsTable() },
  { file: "docs/operations.md", name: "sizing", text: sizingTable(results) },
  { file: "deploy/skyhook.service", name: "secrets", text: credentials(), place: credentialLines },
  { file: "docs/api.md", name: "errors", text: errorTable() },
  { file: "docs/webhooks.md", name: "providers", text: providerTable() },
  { file: "docs/webhooks.md", name: "example", text: wholeExample() },
  { file: "docs/webhooks.md", name: "events", text: eventTable() },
  { file: "docs/payments.md", name: "transitions", text: transitionTable() },
  { file: "docs/providers.md", name: "catalogue", text: catalogueTable() },
  { file: "docs/providers.md", name: "identities", text: identityTable() },
  { file: "docs/provider.schema.json", name: "schema", text: publishedSchema(), place: /^.*$/s },
];

/** The file with the part put in its place. Throws when the file has no such place. */
export function withPart(page: string, part: GeneratedPart): string {
  const { file, name, text } = part;
  const between = new RegExp(`(?<=<!-- ${name} -->\n).*?(?=<!-- /${name} -->)`, "s");
  const { place = between } = part;
  if (!place.test(page)) throw new Error(`${file} has no place for its ${name}: ${place.source}`);
  return page.replace(place, () => `${text}\n`);
}

function errorTable(): string {
  const rows = Object.entries(problems).map(
    ([code, { status, explanation }]) =>
      `| ${status} | \`${code}\` | ${explanation.replace(/(?<=\.) .*/s, "")} |`,
  );
  return ["| status | code | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

/** An event, and what operators receive for it. */
interface Received {
  readonly event: Event;
  readonly message: NewNotification;
}

/** The event and the message of a sample delivery, made as for a real one. */
function receivedOf(provider: Provider, sample: Sample): Received {
  const { headers, body } = sample({ id: deliveryId, now });
  const bytes = Buffer.from(JSON.stringify(body));
  const lowered = new Headers(headers);
  const [interpreted] = interpret(provider, { bytes }, (name) => lowered.get(name)) ?? [];
  if (interpreted === undefined) throw new Error(`A sample of ${provider.id} cannot be read`);
  const { status, type, occurredAt, subject, title, url, actor, data } = interpreted;
  const { keys } = eventIdentity(provider, interpreted, {
    signedBytes: bytes,
    signedContext: "",
  });
  const event: Event = {
    id: eventId,
    provider: provider.id,
    type,
    status,
    idempotencyKey: keys[0],
    occurredAt: occurredAt ?? now,
    createdAt: now,
    subject,
    title,
    url,
    actor,
    data,
    recovered: false,
  };
  const [message] = notificationsOf(provider, event, null);
  if (message === undefined) throw new Error(`${provider.id} has no message for ${type}`);
  return { event, message };
}

const sampleBooking: BookingOnFlight = {
  ...emptyBooking,
  id: `bk_${uuid}`,
  reference: "KXPQZM",
  userId: uuid,
  flightId: 654,
  status: "confirmed",
  seats: 2,
  totalMinor: 99_900,
  currency: "USD",
  contactEmail: "ada@example.com",
  paymentMethod: "card",
  createdAt: now,
  updatedAt: now,
  confirmedAt: now,
  flight: {
    id: 654,
    flightNumber: "N4003",
    airline: "Northwind",
    origin: "JFK",
    destination: "LHR",
    departureTime: new Date("2026-11-28T13:05:00Z"),
    arrivalTime: new Date("2026-11-28T20:10:00Z"),
    cabinClass: "economy",
    priceMinor: 49_950,
    currency: "USD",
    seats: 180,
    seatsAvailable: 178,
    createdAt: now,
  },
};

const makeId: MakeId = (prefix) => `${prefix}_${uuid}` as const;
const paymentEvent = { id: eventId } as const;
const noticeOf = (amount: string): PaymentNotice => ({
  provider: "payment_processor",
  kind: "paid",
  booking: sampleBooking.reference,
  payment: "pi_1",
  amountMinor: null,
  currency: "USD",
  isForeign: false,
  isTest: false,
  amount,
});

/** The events about bookings: their changes, refunds, and payments that do not match. */
function bookingEvents(): readonly StoredEvent[] {
  const actor = { id: uuid, roles: ["user"] } as const;
  const changes = bookingEventTypes
    .filter((type) => type !== "booking.refunded")
    .map((type) => bookingEvent(type, sampleBooking, actor, makeId, now));
  const paid = { ...sampleBooking, paidMinor: sampleBooking.totalMinor };
  const refunded = { ...paid, status: "cancelled", refundMinor: paid.totalMinor } as const;
  const noticed: Readonly<Record<PaymentProblem, readonly [BookingOnFlight, string]>> = {
    "payment.mismatch": [{ ...sampleBooking, status: "held" }, "USD 900.00"],
    "payment.unseated": [{ ...sampleBooking, status: "expired" }, "USD 999.00"],
    "payment.surplus": [paid, "USD 999.00"],
    "payment.overrefunded": [refunded, "USD 1200.00"],
  };
  const unmatched = paymentProblems.map((type) => {
    const [booking, amount] = noticed[type];
    return problemEvent(type, booking, noticeOf(amount), paymentEvent, makeId, now);
  });
  const refund = refundEvent(refunded, noticeOf("USD 999.00"), paymentEvent, makeId, now);
  return [...changes, refund, ...unmatched];
}

function bookingReceived(stored: StoredEvent): Received {
  const { headers: _, body: __, bodyHash: ___, ...event } = stored;
  return { event, message: bookingNotification(event) };
}

function eventTable(): string {
  const ofProviders = catalogue.flatMap((provider) =>
    Object.values(provider.samples).map((sample) => receivedOf(provider, sample)),
  );
  const all = [...ofProviders, ...bookingEvents().map(bookingReceived)];
  const rows = all.map(({ event: { provider, type }, message: { severity, title } }) => {
    return `| \`${provider}\` \`${type}\` | ${severity} | ${title.replaceAll("|", "\\|")} |`;
  });
  const byProvider = Map.groupBy(all, ({ event }) => event.provider);
  const fieldRows = Array.from(byProvider, ([provider, received]) => {
    const fields = new Set(received.flatMap(({ event }) => Object.keys(event.data)));
    return `| \`${provider}\` | ${Array.from(fields, (name) => `\`${name}\``).join(" ")} |`;
  });
  return [
    ["| event | severity | title |", "| --- | --- | --- |", ...rows].join("\n"),
    ["| provider | fields of `data.event.data` |", "| --- | --- |", ...fieldRows].join("\n"),
  ].join("\n\n");
}

function wholeExample(): string {
  const [provider] = catalogue.filter(({ id }) => id === "code_host");
  const sample = provider?.samples["workflow_run.completed"];
  if (provider === undefined || sample === undefined)
    throw new Error("code_host has no such event");
  const { event, message } = receivedOf(provider, sample);
  const { title, text, url, severity } = message;
  const data = { notificationId, title, text, url, severity, createdAt: event.createdAt, event };
  return `\`\`\`json\n${JSON.stringify(cloudEvent(event, data), null, 2)}\n\`\`\``;
}
