import type { Filters } from "../../base/filters.ts";

import { sessionKinds } from "./session.ts";

/** The filters of the list of sessions. */
export const sessionFilters = {
  kind: {
    kind: "word",
    label: "Kind",
    words: sessionKinds,
    description: "Only browsers, or only tokens of agents.",
  },
} as const satisfies Filters;
