import { useMemo } from "preact/hooks";

import { eventFilters } from "../../../../events/event-filters.ts";
import { callApi } from "../api.ts";
import { DestinationFilter, ProviderFilter } from "../list/filters.tsx";
import { TimeFilter } from "../list/time-filter.tsx";
import { toApiError, useLoad } from "../load.ts";
import { words } from "../text.tsx";
import type { EventItem, Page } from "../wire.ts";

/** The controls of the filters of events, for a list and for a replay, with the types on offer. */
export const eventControls = (types: readonly string[]) => ({
  q: { placeholder: "Title, actor, data", filterFor: searchFor },
  delivery: { all: "Any", options: ["dead", "retrying", "pending"] },
  severity: { all: "Any", options: ["error", "warning"], labelOf: orHigher },
  destination: DestinationFilter,
  provider: ProviderFilter,
  time: TimeFilter,
  type: { options: types },
  status: { all: "All statuses" },
});

function orHigher(severity: string): string {
  return severity === "error" ? words(severity) : `${words(severity)} or higher`;
}

/** The types of the newest events. */
export function useNewestTypes(): readonly string[] {
  const { value } = useLoad<Page<EventItem>>("v1/events?limit=100");
  return useMemo(() => [...new Set(value?.data.map(({ type }) => type))].toSorted(), [value]);
}

/**
 * The search for what a person types: its last word is a prefix until a space follows it. Where the server refuses
 * the prefix, because too many words begin with it, the word itself.
 */
async function searchFor(typed: string): Promise<string> {
  const isPart = /[\p{L}\p{N}]$/u.test(typed) && !typed.includes('"');
  const whole = typed.trim().slice(0, eventFilters.q.maxLength - 1);
  const search = isPart ? `${whole}*` : whole;
  if (!search.includes("*")) return search;
  // Asks for no events, only whether the server takes the search.
  const query = new URLSearchParams({ q: search, from: new Date().toISOString(), limit: "1" });
  try {
    await callApi(`v1/events?${query}`);
  } catch (cause) {
    if (toApiError(cause).code === "invalid-parameter") return search.replaceAll("*", "");
  }
  return search;
}
