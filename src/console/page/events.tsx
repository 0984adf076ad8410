import { useEffect, useRef } from "preact/hooks";

import { EventPane } from "./event-pane.tsx";
import { ProviderFilter, SelectFilter, TextFilter } from "./filters.tsx";
import { ListPane, Split } from "./list-pane.tsx";
import { useList } from "./list.ts";
import { useInterval, useLive } from "./live.ts";
import { useLoad } from "./load.ts";
import { type Route, writeRoute } from "./route.ts";
import { Text, words } from "./text.tsx";
import { Time } from "./time.tsx";
import { Empty, Status } from "./ui.tsx";
import type { EventItem, Page } from "./wire.ts";

/** The feed carries only events with notifications; polling finds the others. */
const pollIntervalMs = 5_000;
const statuses = ["accepted", "ignored", "unreadable"];

/** The Events view: all events, updated live. */
export function Events({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const scroller = useRef<HTMLDivElement>(null);
  const path = `v1/events?${apiQuery(query)}`;
  const list = useList<EventItem>(path, () => (scroller.current?.scrollTop ?? 0) < 8);
  const { news } = useLive();
  useEffect(() => void (news > 0 && list.refresh()), [news]);
  useInterval(list.refresh, pollIntervalMs);
  const types = useKnownTypes(list.items, query.size > 0);

  return (
    <Split
      title="Events"
      filters={
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <ProviderFilter route={route} />
          <TextFilter
            route={route}
            name="type"
            label="Type"
            placeholder="Exact type"
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
          {query.size > 0 && <a href={writeRoute("events", id)}>Clear filters</a>}
        </form>
      }
      list={
        <ListPane
          what={["event", "events"]}
          list={list}
          scroller={scroller}
          open={id}
          query={query}
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

function apiQuery(query: URLSearchParams): string {
  const known = ["provider", "type", "status"].flatMap((name) => {
    const value = query.get(name);
    return value === null || value === "" ? [] : [[name, value]];
  });
  return new URLSearchParams([...known, ["include", "severity"]]).toString();
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
      <span class="cell time">
        <Time at={event.createdAt} />
      </span>
      <span class="cell status">
        {/* Events without notifications have no severity: show their status. */}
        <Status of={event.severity ?? event.status} />
      </span>
      <span class="cell title">
        <Text of={event.title} />
      </span>
      <span class="cell kind mono">
        <span class="provider">{event.provider}</span> <Text of={event.type} />
      </span>
    </a>
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
  return (
    <Empty title="No events match these filters">
      {suggestions.length > 0 && (
        <p>
          The type must match exactly. Did you mean{" "}
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
