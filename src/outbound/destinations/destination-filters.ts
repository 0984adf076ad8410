import type { Filters } from "../../base/filters.ts";

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
