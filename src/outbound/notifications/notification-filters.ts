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
} as const satisfies Filters;

export type NotificationFilters = FiltersOf<typeof notificationFilters>;
