import type { Filters, FiltersOf } from "../../base/filters.ts";
import { notificationStatuses } from "../model/notification-words.ts";

/** The filters of the list of destinations. */
export const destinationFilters = {
  owner: {
    kind: "word",
    label: "Owner",
    words: ["operators"],
    description: "Only the operators' destinations.",
    details: "Needs the role operator or admin.",
  },
} as const satisfies Filters;

/** The filters of the deliveries of a destination. */
export const deliveryFilters = {
  status: {
    kind: "word",
    label: "Status",
    words: notificationStatuses,
    description: "Only deliveries with this status.",
  },
} as const satisfies Filters;

export type DeliveryFilters = FiltersOf<typeof deliveryFilters>;
