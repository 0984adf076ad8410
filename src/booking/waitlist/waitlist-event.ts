import type { MakeId } from "../../base/ids.ts";
import type { DataFields } from "../../event/data-fields.ts";
import { emptyEvent, type Event, type StoredEvent } from "../../event/event.ts";
import type { NewNotification, Severity } from "../../event/new-notification.ts";
import { dataOf } from "../../inbound/providers/event-fields.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import { count, text } from "../../web/schema.ts";
import { bookingsProvider } from "../booking-words.ts";
import { type Flight, seatsOnFlight } from "../flight.ts";
import type { WaitlistEntry } from "../waitlist-entry.ts";

const severityOf = {
  "waitlist.offered": "success",
  "waitlist.expired": "info",
} as const satisfies Record<string, Severity>;
type WaitlistEventType = keyof typeof severityOf;
/** The types of event about waiting lists. Each entry has at most one of each. */
export const waitlistEventTypes: readonly WaitlistEventType[] = [
  "waitlist.offered",
  "waitlist.expired",
];

export const waitlistData = {
  entryId: text("The entry on the waiting list.", "wl_019377b07d4070008000000000000001"),
  seats: count("Its seats.", 2),
  flightId: count("The flight.", 654),
  flightNumber: text("The number of the flight.", "N4003"),
  offerExpiresAt: text(
    "When the offer ends or ended. Only with an offer.",
    "2026-12-01T09:32:44.120Z",
  ),
} as const satisfies DataFields;

/** Makes the event about an entry. It holds no personal data, and no id of the user, as events about bookings. */
export function waitlistEvent(
  type: WaitlistEventType,
  { id, seats, offerExpiresAt }: Pick<WaitlistEntry, "id" | "seats" | "offerExpiresAt">,
  flight: Flight,
  makeId: MakeId,
  now: Date,
): StoredEvent {
  const change = type.replace("waitlist.", "");
  return {
    ...emptyEvent,
    id: makeId("evt", now.getTime()),
    provider: bookingsProvider,
    type,
    status: "accepted",
    idempotencyKey: `${bookingsProvider}:${id}:${change}`,
    occurredAt: now,
    createdAt: now,
    subject: `waitlist/${id}`,
    title: `Waiting list ${change}: ${seatsOnFlight(seats, flight)}`,
    data: dataOf(waitlistData, {
      entryId: id,
      seats,
      flightId: flight.id,
      flightNumber: flight.flightNumber,
      ...(offerExpiresAt !== null && { offerExpiresAt: offerExpiresAt.toISOString() }),
    }),
    headers: withTrace(null),
  };
}

export function isWaitlistEvent({ type }: Pick<Event, "type">): boolean {
  return type.startsWith("waitlist.");
}

export function waitlistNotification({ title, type, data, url }: Event): NewNotification {
  const until = data["offerExpiresAt"];
  const known = waitlistEventTypes.find((each) => each === type);
  const details = {
    "waitlist.offered": `Book it by ${String(until)}`,
    "waitlist.expired": until === undefined ? "No seats came free" : "The offer was not taken",
  };
  return {
    title,
    text: known === undefined ? "" : details[known],
    url,
    severity: known === undefined ? "info" : severityOf[known],
  };
}
