import { useName } from "../kit/names.ts";
import { writeRoute } from "../kit/route.ts";
import { Mono, type Of, Text } from "../kit/text.tsx";
import { ExactTime, TimeLeft } from "../kit/time.tsx";
import { Status } from "../kit/ui.tsx";
import type { BookingDetail, HistoryEntry } from "../kit/wire.ts";

interface LifeParts {
  readonly booking: BookingDetail;
  /** The booker's email address or id. */
  readonly user: string | null;
}

/** What happened to a booking, oldest first, with the webhook events that caused it, and what is next. */
export function BookingLife({ booking, user }: LifeParts) {
  const { history, status, expiresAt, userId } = booking;
  return (
    <ol class="timeline life">
      {history.map((entry) => (
        <Entry
          key={`${entry.at} ${entry.type} ${entry.eventId ?? ""}`}
          entry={entry}
          actor={entry.actor === userId ? user : entry.actor}
          heldUntil={entry.type === "booking.held" ? (expiresAt ?? null) : null}
        />
      ))}
      {status === "held" && expiresAt !== undefined && <Expiry at={expiresAt} />}
    </ol>
  );
}

function Expiry({ at }: { readonly at: string }) {
  return (
    <li class="step next">
      <h3>
        <span>
          Expires in <TimeLeft until={at} />
        </span>
      </h3>
      <p class="quiet">
        <ExactTime at={at} /> unless a payment confirms it
      </p>
    </li>
  );
}

/** The shape and colour of an entry. The others are grey. */
const kinds: Readonly<Partial<Record<HistoryEntry["type"], "good" | "bad" | "alert" | "wait">>> = {
  "booking.held": "wait",
  "booking.confirmed": "good",
  "booking.cancelled": "bad",
  "booking.changed": "good",
  "payment.confirmed": "good",
  "payment.changed": "good",
  "payment.failed": "bad",
  "payment.mismatch": "alert",
  "payment.unseated": "alert",
  "payment.surplus": "alert",
  "payment.overrefunded": "alert",
  "payment.unmatched": "alert",
  "payment.disputed": "alert",
  "refund.pending": "wait",
  "refund.partial": "wait",
  "refund.succeeded": "good",
  "refund.failed": "bad",
  "refund.corrected": "wait",
  "flight.changed": "wait",
  "flight.cancelled": "alert",
};

interface EntryParts {
  readonly entry: HistoryEntry;
  /** An email address or a user id; null if unknown. */
  readonly actor: string | null;
  /** Until when a hold lasts; null for other entries. */
  readonly heldUntil: string | null;
}

function Entry({ entry, actor, heldUntil }: EntryParts) {
  const { at, type, title } = entry;
  return (
    <li class={`step ${kinds[type] ?? ""}`}>
      <h3>
        <Text of={title} />
      </h3>
      <p class="quiet">
        <ExactTime at={at} /> <Mono of={type} />
        {actor !== null && (
          <>
            {" "}
            by <Text of={actor} />
          </>
        )}
      </p>
      {heldUntil !== null && (
        <p class="quiet">
          Held until <ExactTime at={heldUntil} />
        </p>
      )}
      <Events of={entry} />
    </li>
  );
}

/** The webhook event that caused an entry, its own event, and whether operators were notified. */
function Events({ of: { webhook, eventId, notifications } }: Of<HistoryEntry>) {
  const name = useName(webhook?.provider ?? "");
  const own = eventId === webhook?.eventId ? null : eventId;
  if (webhook === null && own === null && notifications.length === 0) return null;
  return (
    <p class="under">
      {notifications.map((notification) => (
        <Status key={notification.id} of={notification.status} />
      ))}
      {webhook !== null &&
        (webhook.deleted ? (
          <span class="quiet">
            Webhook event of <Text of={name} />, deleted by retention
          </span>
        ) : (
          <a href={writeRoute("events", webhook.eventId)}>Webhook event of {name}</a>
        ))}
      {own !== null && <a href={writeRoute("events", own)}>View event</a>}
    </p>
  );
}
