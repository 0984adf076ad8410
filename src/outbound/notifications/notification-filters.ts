import type { Filters, FiltersOf } from "../../base/filters.ts";
import { severities } from "../../event/new-notification.ts";
import { notificationStatuses } from "../model/notification-words.ts";

/** The filters of the list of notifications. */
export const notificationFilters = {
  status: {
    kind: "word",
    label: "Status",
    words: notificationStatuses,
    description: "Only notifications with this status.",
  },
  severity: {
    kind: "word",
    label: "Severity",
    words: severities,
    description: "Only notifications of this severity or a higher one.",
    details: "The order is `info`, `success`, `warning`, `error`.",
  },
  destination: {
    kind: "text",
    label: "Destination",
    description: "Only what was sent to this destination of the operators, by name or id.",
    details: "With `status`: whose delivery there has this status.",
    example: "deploys",
  },
} as const satisfies Filters;

/** The filters of the feed. */
export const feedFilters = {
  severity: notificationFilters.severity,
} as const satisfies Filters;

export type NotificationFilters = FiltersOf<typeof notificationFilters>;
