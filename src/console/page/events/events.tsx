import { useRef } from "preact/hooks";

import { eventFilters } from "../../../events/event-filters.ts";
import { apiQuery, Filters } from "../filters.tsx";
import { idIn } from "../ids.ts";
import { listView } from "../list-view.tsx";
import { writeRoute } from "../route.ts";
import { providerColumn, timeColumn } from "../rows.tsx";
import { type Of, Text, words } from "../text.tsx";
import { Delivery, Empty } from "../ui.tsx";
import type { EventItem } from "../wire.ts";

import { eventControls, searchIn, useNewestTypes } from "./event-filters.tsx";
import { EventPane } from "./event-pane.tsx";

/** New events are highlighted for this long. */
const freshMs = 4_000;

/** The Events view: all events, updated live. */
export const Events = listView<EventItem>({
  view: "events",
  what: ["event", "events"],
  path: (query, range) => {
    const include = ["include", "severity,delivery"] as const;
    return `v1/events?${apiQuery(query, eventFilters, [searchIn(query), ...range, include])}`;
  },
  // The feed carries only events with notifications; polling finds the others.
  pollIntervalMs: 5_000,
  columns: [
    {
      head: "Delivery",
      at: "outcome",
      width: "104px",
      cell: ({ delivery }) => <Delivery of={delivery ?? "none"} />,
    },
    {
      head: "Event",
      at: "title",
      cell: (event) => (
        <>
          <Text of={event.title} /> <Severity of={event} />
        </>
      ),
    },
    providerColumn,
    { head: "Type", at: "kind", width: "minmax(0, 200px)", look: "mono", cell: ({ type }) => type },
    timeColumn("Received"),
  ],
  narrow: `"title title outcome" "source kind time" / auto minmax(0, 1fr) auto`,
  isFresh: ({ createdAt }) => Date.now() - Date.parse(createdAt) < freshMs,
  useSuggestions: (items, query) => useKnownTypes(items, query.size > 0),
  filters: ({ route, suggestions }) => (
    <Filters of={eventFilters} route={route} controls={eventControls(suggestions)} />
  ),
  action: (query) => (
    <a class="button" href={writeRoute("replays", "new", query)}>
      Replay these…
    </a>
  ),
  noMatch: (query, types) => <NoMatch query={query} types={types} />,
  empty: (
    <Empty title="No events yet">
      <p>New events appear here automatically. To send a signed sample, run:</p>
      <pre>skyhook send code_host workflow_run.completed</pre>
    </Empty>
  ),
  detail: ({ id, close }) => <EventPane id={id} close={close} />,
});

/** The types of all events loaded so far and, while a filter is set, of the newest events. */
function useKnownTypes(items: readonly EventItem[] | null, isFiltered: boolean): readonly string[] {
  const known = useRef(new Set<string>());
  const newest = useNewestTypes(isFiltered);
  for (const type of [...(items ?? []).map((event) => event.type), ...newest])
    known.current.add(type);
  return [...known.current].toSorted();
}

function withType(query: URLSearchParams, type: string): URLSearchParams {
  const changed = new URLSearchParams(query);
  changed.set("type", type);
  return changed;
}

/** Quiet: what an event reports is not whether it was delivered. */
function Severity({ of: { severity, status } }: Of<EventItem>) {
  // Events without notifications have no severity: show their status.
  const shown = severity ?? (status === "accepted" ? null : status);
  return shown === null || shown === "info" ? null : (
    <span class={`severity ${shown}`}>{words(shown)}</span>
  );
}

interface FilterParts {
  readonly query: URLSearchParams;
  readonly types: readonly string[];
}

const maxSuggestions = 5;

function NoMatch({ query, types }: FilterParts) {
  const typed = query.get("type") ?? "";
  const isPart = (type: string) => typed !== "" && type.toLowerCase().includes(typed.toLowerCase());
  const suggestions = types.includes(typed) ? [] : types.filter(isPart).slice(0, maxSuggestions);
  const named = idIn(query.get("q") ?? "");
  return (
    <Empty title="No events match these filters">
      {named !== null && (
        <p>
          A search reads titles, actors and data.{" "}
          <a href={writeRoute(named.view, named.id)}>
            Open the {named.what} <code>{named.id}</code>
          </a>
          .
        </p>
      )}
      {suggestions.length > 0 && (
        <p>
          No event type has this name. Did you mean{" "}
          {suggestions.map((type, index) => (
            <>
              {index > 0 && ", "}
              <a class="mono" href={writeRoute("events", null, withType(query, type))}>
                <Text of={type} />
              </a>
            </>
          ))}
          ?
        </p>
      )}
      <p>
        <a href={writeRoute("events")}>Show all events</a>. Deliveries that failed verification are
        under <a href={writeRoute("rejections")}>Rejected</a>.
      </p>
    </Empty>
  );
}
