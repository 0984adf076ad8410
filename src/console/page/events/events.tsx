import { eventFilters } from "../../../events/event-filters.ts";
import { eventControls, useNewestTypes } from "../kit/event/event-filters.tsx";
import { commandOf } from "../kit/given.ts";
import { idIn } from "../kit/ids.ts";
import { apiQuery, Filters } from "../kit/list/filters.tsx";
import { listView } from "../kit/list/list-view.tsx";
import { providerColumn, timeColumn } from "../kit/list/rows.tsx";
import { writeRoute } from "../kit/route.ts";
import { type Of, Text, words } from "../kit/text.tsx";
import { Delivery, Empty } from "../kit/ui.tsx";
import type { ViewParts } from "../kit/views.ts";
import type { EventItem } from "../kit/wire.ts";

import { EventPane } from "./event-pane.tsx";

/** New events are highlighted for this long. */
const freshMs = 4_000;

/** The Events view: all events, updated live. */
export const Events = listView<EventItem>({
  view: "events",
  what: ["event", "events"],
  path: (query, range) => {
    const include = ["include", "severity,delivery"] as const;
    return `v1/events?${apiQuery(query, eventFilters, [...range, include])}`;
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
          <Severity of={event} /> <Text of={event.title} />
        </>
      ),
    },
    providerColumn,
    { head: "Type", at: "kind", width: "minmax(0, 200px)", look: "mono", cell: ({ type }) => type },
    timeColumn("Received"),
  ],
  narrow: `"title title outcome" "source kind time" / auto minmax(0, 1fr) auto`,
  isFresh: ({ createdAt }) => Date.now() - Date.parse(createdAt) < freshMs,
  filters: ({ route }) => <EventFilters route={route} />,
  action: (query) => (
    <a class="button primary" href={writeRoute("replays", "new", query)}>
      Replay these…
    </a>
  ),
  noMatch: (query) => <NoMatch query={query} />,
  empty: (
    <Empty title="No events yet">
      <p>New events appear here automatically. To send a signed sample, run:</p>
      <pre>{commandOf("send code_host workflow_run.completed")}</pre>
    </Empty>
  ),
  detail: ({ id, close }) => <EventPane id={id} close={close} />,
});

function EventFilters({ route }: ViewParts) {
  return <Filters of={eventFilters} route={route} controls={eventControls(useNewestTypes())} />;
}

/** Quiet: what an event reports is not whether it was delivered. Before the title, which may be too long for its cell. */
function Severity({ of: { severity, status } }: Of<EventItem>) {
  // Events without notifications have no severity: show their status.
  const shown = severity ?? (status === "accepted" ? null : status);
  const text = shown === null || shown === "info" ? "" : words(shown);
  return <span class={`severity ${shown}`}>{text}</span>;
}

function NoMatch({ query }: { readonly query: URLSearchParams }) {
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
      <p>
        <a href={writeRoute("events")}>Show all events</a>. Deliveries that failed verification are
        under <a href={writeRoute("rejections")}>Rejected</a>.
      </p>
    </Empty>
  );
}
