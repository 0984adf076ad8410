import type { Actor } from "../../base/context.ts";
import { moneyOf, moneyText } from "../../base/money.ts";
import { Place } from "../../db/place.ts";
import { type Write, write } from "../../db/statement.ts";
import { emptyEvent, type EventContent, type StoredEvent } from "../../event/event.ts";
import { insertEvent } from "../../event/events.sql.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import {
  type DescribedEvent,
  exampleNotification,
  exampleTimes,
} from "../../events/described-event.ts";
import { dataOf } from "../../inbound/providers/event-fields.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import { bookingsProvider } from "../model/booking-words.ts";
import type { Booking, Passenger } from "../model/booking.ts";
import { seatsOnFlight } from "../model/flight.ts";

import {
  type AboutBooking,
  type AboutOther,
  eventFields,
  type EventType,
} from "./event-content.ts";
import { eventTypes, type InputOf, type OwnEventType, ownEventTypes } from "./event-types.ts";

export interface EventMaking {
  /** The address of the console, for links; null if it is not known. */
  readonly consoleUrl: string | null;
}

const types: { readonly [Type in OwnEventType]: EventType<InputOf<Type>> } = eventTypes;
const typesByName = new Map<string, Pick<EventType<never>, "severity" | "text" | "isInternal">>(
  Object.entries(types),
);

/**
 * Makes an event of this service, not of a provider, that happens now. It holds no personal data: no name, e-mail
 * address, birth date or passport, and no id of the owner, from which name and e-mail address could be looked up. The
 * actor is an admin's id, or null for the owner and where no caller was involved. `actor`: null for the latter.
 */
export function ownEvent<Type extends OwnEventType>(
  type: Type,
  input: InputOf<Type>,
  actor: Actor | null,
  making: EventMaking | null,
  now: Date,
): StoredEvent {
  const consoleUrl = making?.consoleUrl ?? null;
  const about = types[type].about(...input);
  const { idempotencyKey, path, userId, subject, title, data } =
    "booking" in about ? ofBooking(type, about) : about;
  return {
    ...emptyEvent,
    place: new Place(now.getTime()),
    provider: bookingsProvider,
    type,
    status: "accepted",
    idempotencyKey,
    occurredAt: now,
    createdAt: now,
    subject,
    title,
    url: consoleUrl === null || path === undefined ? null : `${consoleUrl}${path}`,
    actor: actor === null || actor.id === userId ? null : actor.id,
    data: dataOf(eventFields, data),
    headers: withTrace(null),
  };
}

/** What all events about bookings say. */
function ofBooking(
  type: OwnEventType,
  { booking, suffix = [], title, data }: AboutBooking,
): AboutOther {
  const { id, reference, userId, seats, totalMinor, currency, flight } = booking;
  const status = type.replace("booking.", "");
  return {
    idempotencyKey: bookingEventKey(type, id, ...suffix),
    subject: `booking/${id}`,
    title: title ?? `Booking ${reference} ${status}: ${seatsOnFlight(seats, flight)}`,
    path: `#/bookings/${id}`,
    userId,
    data: {
      bookingId: id,
      reference,
      seats,
      flightId: flight.id,
      flightNumber: flight.flightNumber,
      total: moneyOf(totalMinor, currency).amount,
      currency,
      ...data,
    },
  };
}

/** The idempotency key of a booking's event. `suffix`: for types of which it can have several. */
export function bookingEventKey(
  type: OwnEventType,
  id: Booking["id"],
  ...suffix: readonly (string | number)[]
): string {
  return [bookingsProvider, id, type.replace("booking.", ""), ...suffix].join(":");
}

/** The idempotency keys of the events about the corrections of passengers. */
export function correctionKeys(
  id: Booking["id"],
  passengers: readonly Pick<Passenger, "position" | "corrections">[],
): readonly string[] {
  return passengers.flatMap(({ position, corrections }) =>
    Array.from({ length: corrections }, (_, index) =>
      bookingEventKey("booking.corrected", id, position, index + 1),
    ),
  );
}

/** Stores an event of a booking with its notification, which the user who booked may receive too. */
export function bookingEventWrites(
  outbox: Outbox,
  event: StoredEvent,
  ownerId: Booking["userId"],
): readonly Write<unknown>[] {
  const concerned = typesByName.get(event.type)?.isInternal === true ? {} : { ownerId };
  return [
    write(insertEvent, event),
    ...outbox.writesFor(event, [ownNotification(event)], concerned),
  ];
}

/** The notification about an event of this service. */
export function ownNotification({ type, title, data, url }: EventContent): NewNotification {
  const { severity = "error", text } = typesByName.get(type) ?? {};
  const total = { amount: Number(data["total"]), currency: String(data["currency"]) };
  const details = data["bookingId"] === undefined ? String(data["payment"]) : moneyText(total);
  return { title, text: text ?? details, url, severity };
}

/** The types of event, with an example each. */
export function bookingEvents(): readonly DescribedEvent[] {
  const { id, createdAt: now } = exampleTimes;
  const making = { consoleUrl: "https://skyhook.example.com/console" };
  return ownEventTypes.map((type) => {
    const stored = ownEvent(type, types[type].example, null, making, now);
    const { provider, status, idempotencyKey, occurredAt, createdAt } = stored;
    const { subject, title, url, actor, data, recovered } = stored;
    const key = { id, provider, type, status, idempotencyKey, occurredAt, createdAt };
    const event = { ...key, subject, title, url, actor, data, recovered };
    const notification = exampleNotification(ownNotification(event));
    return { from: "Bookings", data: eventFields, event, notification };
  });
}
