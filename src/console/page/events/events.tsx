import { useEffect, useRef } from "preact/hooks";

import { apiQuery, LinkedFilters, ProviderFilter, SelectFilter, TextFilter } from "../filters.tsx";
import { ListPane, Split } from "../list-pane.tsx";
import { useList } from "../list.ts";
import { useLive } from "../live.ts";
import { useLoad } from "../load.ts";
import { idIn } from "../palette/command.ts";
import { type Route, writeRoute } from "../route.ts";
import { Text, words } from "../text.tsx";
import { TimeFilter, useTimeRange } from "../time-filter.tsx";
import { Time } from "../time.tsx";
import { Delivery, Empty, Monogram } from "../ui.tsx";
import type { EventItem, Page } from "../wire.ts";

import { deliveries, statuses, wordsStarting } from "./event-filters.ts";
import { EventPane } from "./event-pane.tsx";

/** The feed carries only events with notifications; polling finds the others. */
const pollIntervalMs = 5_000;

/** The Events view: all events, updated live. */
export function Events({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const filters = apiQuery(
    query,
    ["provider", "type", "status", "delivery", "subject", "idempotencyKey"],
    [
      ["q", wordsStarting(query.get("q") ?? "")],
      ...useTimeRange(query),
      ["include", "severity,delivery"],
    ],
  );
  const path = `v1/events?${filters}`;
  const list = useList<EventItem>(path, pollIntervalMs);
  const { news } = useLive();
  useEffect(() => void (news > 0 && list.refresh()), [news]);
  const types = useKnownTypes(list.items, query.size > 0);

  return (
    <Split
      title="Events"
      filters={
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
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
          <TextFilter
            route={route}
            name="type"
            label="Type"
            placeholder="deploy.*"
            options={types}
          />
          <SelectFilter
            route={route}
            name="status"
            label="Status"
            all="All statuses"
            options={statuses}
            labelOf={words}
          />
          <LinkedFilters route={route} />
          {query.size > 0 && <a href={writeRoute("events", id)}>Clear filters</a>}
        </form>
      }
      action={
        <a class="button" href={writeRoute("replays", "new", query)}>
          Replay these…
        </a>
      }
      list={
        <ListPane
          what={["event", "events"]}
          list={list}
          open={id}
          query={query}
          head={["Delivery", "Event", "Provider", "Type", "Received"]}
          empty={query.size > 0 ? <NoMatch query={query} types={types} /> : <NoEvents />}
          row={(event) => (
            <Row
              event={event}
              href={writeRoute("events", event.id, query)}
              isOpen={event.id === id}
            />
          )}
        />
      }
      detail={id === null ? null : <EventPane id={id} close={writeRoute("events", null, query)} />}
    />
  );
}

/** The types of all events loaded so far and, while a filter is set, of the newest events. */
function useKnownTypes(items: readonly EventItem[] | null, isFiltered: boolean): readonly string[] {
  const known = useRef(new Set<string>());
  const newest = useLoad<Page<EventItem>>(isFiltered ? "v1/events?limit=100" : null);
  for (const { type } of items ?? []) known.current.add(type);
  for (const { type } of newest.value?.data ?? []) known.current.add(type);
  return [...known.current].toSorted();
}

function withType(query: URLSearchParams, type: string): URLSearchParams {
  const changed = new URLSearchParams(query);
  changed.set("type", type);
  return changed;
}

const freshMs = 4_000;

function Row({
  event,
  href,
  isOpen,
}: {
  readonly event: EventItem;
  readonly href: string;
  readonly isOpen: boolean;
}) {
  const isFresh = Date.now() - Date.parse(event.createdAt) < freshMs;
  return (
    <a
      class={isFresh ? "row event fresh" : "row event"}
      href={href}
      data-row
      aria-current={isOpen ? "true" : undefined}
    >
      <span class="cell outcome">
        <Delivery of={event.delivery ?? "none"} />
      </span>
      <span class="cell title">
        <Text of={event.title} /> <Severity of={event} />
      </span>
      <span class="cell source">
        <Monogram of={event.provider} />
        <span class="provider">{event.provider}</span>
      </span>
      <span class="cell kind mono">
        <Text of={event.type} />
      </span>
      <span class="cell time">
        <Time at={event.createdAt} />
      </span>
    </a>
  );
}

/** Quiet: what an event reports is not whether it was delivered. */
function Severity({ of: { severity, status } }: { readonly of: EventItem }) {
  // Events without notifications have no severity: show their status.
  const shown = severity ?? (status === "accepted" ? null : status);
  return shown === null || shown === "info" ? null : (
    <span class={`severity ${shown}`}>{words(shown)}</span>
  );
}

function NoEvents() {
  return (
    <Empty title="No events yet">
      <p>New events appear here automatically. To send a signed sample, run:</p>
      <pre>skyhook send code_host workflow_run.completed</pre>
    </Empty>
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
