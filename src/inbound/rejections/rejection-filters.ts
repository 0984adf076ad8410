import type { Filters, FiltersOf } from "../../base/filters.ts";
import { rejectionReasons } from "../model/rejection-reasons.ts";

/** The filters of the list of rejections. */
export const rejectionFilters = {
  provider: {
    kind: "text",
    label: "Provider",
    description: "Only rejections of this provider.",
  },
  reason: {
    kind: "word",
    label: "Reason",
    words: rejectionReasons,
    description: "Only with this reason.",
  },
  from: {
    kind: "instant",
    label: "From",
    description: "Only deliveries received at this time or later.",
  },
  to: {
    kind: "instant",
    label: "To",
    description: "Only deliveries received before this time.",
  },
} as const satisfies Filters;

export type RejectionFilters = FiltersOf<typeof rejectionFilters>;
