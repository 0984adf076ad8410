import type { Filters, FiltersOf } from "../base/filters.ts";
import { eventStatuses } from "../event/event-words.ts";
import { severities } from "../event/new-notification.ts";
import { deliveryStates } from "../outbound/model/notification-words.ts";

/** The filters of the list of events. */
export const eventFilters = {
  from: {
    kind: "instant",
    label: "From",
    description: "Only events received at this time or later.",
  },
  to: { kind: "instant", label: "To", description: "Only events received before this time." },
  provider: {
    kind: "text",
    label: "Provider",
    description: "Only events of this provider.",
    example: "code_host",
    compare: "equal",
  },
  type: {
    kind: "text",
    label: "Type",
    description: "Only events of this type, or of all types that start with the text before `*`.",
    example: "deploy.*",
    isPrefixed: true,
    compare: "equal or prefix",
  },
  status: {
    kind: "word",
    label: "Status",
    words: eventStatuses,
    description: "Only events with this status.",
    compare: "equal",
  },
  severity: {
    kind: "word",
    label: "Severity",
    words: severities,
    description: "Only events with a notification of this severity or a higher one.",
    details: "The order is `info`, `success`, `warning`, `error`.",
  },
  delivery: {
    kind: "word",
    label: "Delivery",
    words: deliveryStates,
    description: "Only events whose notifications are in this state.",
    details:
      "`dead` if one is dead, otherwise `retrying`, otherwise `pending`, otherwise `delivered`; `none` without notifications.",
  },
  destination: {
    kind: "text",
    label: "Destination",
    description: "Only events that were sent to this destination of the operators, by name or id.",
    details: "With `delivery`: that are in this state there.",
    example: "deploys",
  },
  subject: {
    kind: "text",
    label: "Subject",
    description: "Only events about this resource.",
    example: "pull_request/42",
    compare: "equal",
  },
  idempotencyKey: {
    kind: "text",
    label: "Idempotency key",
    description: "Only the event with this key.",
    example: "code_host:72d3162e",
    compare: "equal",
  },
  q: {
    kind: "text",
    label: "Search",
    description: "Only events with all of these words in their title, actor, subject or data.",
    details:
      '`deplo*` matches words that start with `deplo`, `"build failed"` an exact phrase. Case and accents are ignored.',
    example: "build fail*",
    maxLength: 1_000,
  },
} as const satisfies Filters;

/** Which events to list. */
export type EventFilters = FiltersOf<typeof eventFilters>;

/** The filters of a bulk replay. */
export const replayFilters = {
  ...eventFilters,
  to: { ...eventFilters.to, details: "Default: now." },
} as const satisfies Filters;

/** Without one of these, a bulk replay would replay all events of a provider or type, or all there are. */
export const limitingFilters = ["from", "delivery", "q", "subject", "idempotencyKey"] as const;

/** The most events per second of a bulk replay that names no rate. */
export const defaultRatePerSecond = 50;

/** The filters that are compared with a column of the event. */
export type EventColumn = {
  readonly [Name in keyof typeof eventFilters]: (typeof eventFilters)[Name] extends {
    readonly compare: string;
  }
    ? Name
    : never;
}[keyof typeof eventFilters];

// When an event is streamed, nothing has been delivered yet. New events have no end.
const { to: _, delivery: __, destination: ___, ...streamed } = eventFilters;

/** The filters of the stream of events, which starts at `from`. */
export const streamFilters = {
  ...streamed,
  from: {
    kind: "instant",
    label: "From",
    description: "Starts with events of this time.",
    details: "Ignored with Last-Event-ID.",
  },
} as const satisfies Filters;

export type StreamFilters = FiltersOf<typeof streamFilters>;
