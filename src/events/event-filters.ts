import type { Filters, FiltersOf } from "../base/filters.ts";
import { eventStatuses } from "../event/event-words.ts";
import { severities } from "../event/new-notification.ts";
import { deliveryStates } from "../outbound/notification-words.ts";

/** The filters of the list of events. Bulk replays have the same. */
export const eventFilters = {
  from: { kind: "instant", description: "Only events received at this time or later." },
  to: { kind: "instant", description: "Only events received before this time." },
  provider: {
    kind: "text",
    description: "Only events of this provider.",
    example: "code_host",
    compare: "equal",
  },
  type: {
    kind: "text",
    description: "Only events of this type, or of all types that start with the text before `*`.",
    example: "deploy.*",
    compare: "equal or prefix",
  },
  status: {
    kind: "word",
    words: eventStatuses,
    description: "Only events with this status.",
    compare: "equal",
  },
  delivery: {
    kind: "word",
    words: deliveryStates,
    description: "Only events whose notifications are in this state.",
    details:
      "`dead` if one is dead, otherwise `retrying`, otherwise `pending`, otherwise `delivered`; `none` without notifications.",
  },
  subject: {
    kind: "text",
    description: "Only events about this resource.",
    example: "pull_request/42",
    compare: "equal",
  },
  idempotencyKey: {
    kind: "text",
    description: "Only the event with this key.",
    example: "code_host:72d3162e",
    compare: "equal",
  },
  q: {
    kind: "text",
    description: "Only events with all of these words in their title, actor, subject or data.",
    details:
      '`deplo*` matches words that start with `deplo`, `"build failed"` an exact phrase. Case and accents are ignored.',
    example: "build fail*",
  },
} as const satisfies Filters;

/** Which events to list. */
export type EventFilters = FiltersOf<typeof eventFilters>;

/** The filters that are compared with a column of the event. */
export type EventColumn = {
  readonly [Name in keyof typeof eventFilters]: (typeof eventFilters)[Name] extends {
    readonly compare: string;
  }
    ? Name
    : never;
}[keyof typeof eventFilters];

// When an event is streamed, nothing has been delivered yet. New events have no end.
const { to: _, delivery: __, ...streamed } = eventFilters;

/** The filters of the stream of events, which starts at `from`. */
export const streamFilters = {
  ...streamed,
  from: {
    kind: "instant",
    description: "Starts with events of this time. Ignored with Last-Event-ID.",
  },
  severity: {
    kind: "word",
    words: severities,
    description: "Only events with a notification of this severity or a higher one.",
  },
} as const satisfies Filters;

export type StreamFilters = FiltersOf<typeof streamFilters>;
