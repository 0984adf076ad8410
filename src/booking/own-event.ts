import type { MakeId } from "../base/ids.ts";
import { emptyEvent, type StoredEvent } from "../event/event.ts";
import { withTrace } from "../telemetry/tracing/stored-trace.ts";

import { bookingsProvider } from "./booking-words.ts";

/** What makes events about bookings. */
export interface EventMaking {
  readonly makeId: MakeId;
  /** The address of the console, for links; null if it is not known. */
  readonly consoleUrl: string | null;
}

/** Makes an event of this service, not of a provider, that happens now. */
export function ownEvent(
  { makeId }: Pick<EventMaking, "makeId">,
  fields: Pick<StoredEvent, "type" | "idempotencyKey" | "subject" | "title" | "data"> &
    Partial<Pick<StoredEvent, "actor" | "url">>,
  now: Date,
): StoredEvent {
  return {
    ...emptyEvent,
    id: makeId("evt", now.getTime()),
    provider: bookingsProvider,
    status: "accepted",
    occurredAt: now,
    createdAt: now,
    ...fields,
    headers: withTrace(null),
  };
}
