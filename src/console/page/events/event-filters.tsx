import { LinkedFilters, ProviderFilter, SelectFilter, TextFilter } from "../filters.tsx";
import type { Route } from "../route.ts";
import { words } from "../text.tsx";
import { TimeFilter } from "../time-filter.tsx";

const deliveries = ["dead", "retrying", "pending", "delivered", "none"];
const statuses = ["accepted", "ignored", "unreadable"];

/** The filters that the API takes as they are in the page's address. */
export const sameNames = [
  "provider",
  "type",
  "status",
  "delivery",
  "subject",
  "idempotencyKey",
] as const;

/** What the API searches for. While the last word is being typed, it matches longer ones too. */
export function wordsStarting(typed: string): string {
  return /[\p{L}\p{N}]$/u.test(typed) && !typed.includes('"') ? `${typed}*` : typed;
}

interface Parts {
  readonly route: Route;
  /** The types on offer. */
  readonly types: readonly string[];
}

/** The filters of events, for a list and for a replay. */
export function EventFilters({ route, types }: Parts) {
  return (
    <>
      <TextFilter
        route={route}
        name="q"
        label="Search"
        placeholder="Title, actor, data"
        options={[]}
      />
      <SelectFilter
        route={route}
        name="delivery"
        label="Delivery"
        all="Any"
        options={deliveries}
        labelOf={words}
      />
      <ProviderFilter route={route} />
      <TimeFilter route={route} />
      <TextFilter route={route} name="type" label="Type" placeholder="deploy.*" options={types} />
      <SelectFilter
        route={route}
        name="status"
        label="Status"
        all="All statuses"
        options={statuses}
        labelOf={words}
      />
      <LinkedFilters route={route} />
    </>
  );
}
