import { Place } from "../../db/place.ts";
import { emptyEvent, type StoredEvent } from "../../event/event.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import { bookingsProvider } from "../model/booking-words.ts";

/** What makes events about bookings. */
export interface EventMaking {
  /** The address of the console, for links; null if it is not known. */
  readonly consoleUrl: string | null;
}

/** Makes an event of this service, not of a provider, that happens now. */
export function ownEvent(
  fields: Pick<StoredEvent, "type" | "idempotencyKey" | "subject" | "title" | "data"> &
    Partial<Pick<StoredEvent, "actor" | "url">>,
  now: Date,
): StoredEvent {
  return {
    ...emptyEvent,
    place: new Place(now.getTime()),
    provider: bookingsProvider,
    status: "accepted",
    occurredAt: now,
    createdAt: now,
    ...fields,
    headers: withTrace(null),
  };
}
