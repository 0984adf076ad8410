import { useEffect, useRef } from "preact/hooks";

import { EventPane } from "./event-pane.tsx";
import { ProviderFilter, SelectFilter, TextFilter } from "./filters.tsx";
import { ListPane, Split } from "./list-pane.tsx";
import { useList } from "./list.ts";
import { useInterval, useLive } from "./live.ts";
import { useLoad } from "./load.ts";
import { type Route, writeRoute } from "./route.ts";
import { Text } from "./text.tsx";
import { Time } from "./time.tsx";
import { Empty, Status } from "./ui.tsx";
import type { EventItem, Page } from "./wire.ts";

/** The feed tells of notifications; what came without one is looked for this often. */
const lookMs = 5_000;
const statuses = ["accepted", "ignored", "unreadable"];

/** What arrived, as it arrives. */
export function Events({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const scroller = useRef<HTMLDivElement>(null);
  const path = `v1/events?${apiQuery(query)}`;
  const list = useList<EventItem>(path, () => (scroller.current?.scrollTop ?? 0) < 8);
  const { news } = useLive();
  useEffect(() => void (news > 0 && list.refresh()), [news]);
  useInterval(list.refresh, lookMs);
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
            hint="the whole name"
            options={types}
          />
          <SelectFilter route={route} name="status" label="State" options={statuses} />
          {query.size > 0 && <a href={writeRoute("events", id)}>Clear</a>}
        </form>
      }
      list={
        <ListPane
          what={["event", "events"]}
          list={list}
          scroller={scroller}
          open={id}
          query={query}
          empty={query.size > 0 ? <NothingFits query={query} types={types} /> : <NothingYet />}
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

/** The types of all events that were seen here; where filters hide most, of the newest ones too. */
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
        {/* How grave it is, where operators are told; what was made of it, where they are not. */}
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

function NothingYet() {
  return (
    <Empty title="Nothing has arrived yet">
      <p>Events appear here by themselves. To send one, signed as its provider would:</p>
      <pre>skyhook send code_host workflow_run.completed</pre>
    </Empty>
  );
}

interface FilterParts {
  readonly query: URLSearchParams;
  readonly types: readonly string[];
}

/** More than these are no help. */
const maxMeant = 5;

function NothingFits({ query, types }: FilterParts) {
  const typed = query.get("type") ?? "";
  const isPart = (type: string) => typed !== "" && type.toLowerCase().includes(typed.toLowerCase());
  const meant = types.includes(typed) ? [] : types.filter(isPart).slice(0, maxMeant);
  return (
    <Empty title="No event fits these filters">
      {meant.length > 0 && (
        <p>
          A type is found by its whole name:{" "}
          {meant.map((type) => (
            <>
              <a class="mono" href={writeRoute("events", null, withType(query, type))}>
                <Text of={type} />
              </a>{" "}
            </>
          ))}
        </p>
      )}
      <p>
        <a href={writeRoute("events")}>Show all events</a>. Deliveries that were not accepted are
        under <a href={writeRoute("refused")}>Refused</a>.
      </p>
    </Empty>
  );
}
