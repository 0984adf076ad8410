import type { Filters } from "../../base/filters.ts";

import { sessionKinds } from "./session.ts";

/** The filters of the list of sessions. */
export const sessionFilters = {
  actor: { kind: "text", label: "Created by", description: "Only those of this user or client." },
  kind: {
    kind: "word",
    label: "Kind",
    words: sessionKinds,
    description: "Only browsers, tokens of agents, or API keys.",
  },
} as const satisfies Filters;
