import type { Filters, FiltersOf } from "../../base/filters.ts";
import { notificationStatuses } from "../notification-words.ts";

/** The filters of the list of notifications. */
export const notificationFilters = {
  status: {
    kind: "word",
    label: "Status",
    words: notificationStatuses,
    description: "Only notifications with this status.",
  },
  destination: {
    kind: "text",
    label: "Destination",
    description: "Only what was sent to this destination of the operators, by name or id.",
    details: "With `status`: whose delivery there has this status.",
    example: "deploys",
  },
} as const satisfies Filters;

export type NotificationFilters = FiltersOf<typeof notificationFilters>;
