import type { ComponentChildren } from "preact";

import { Split } from "../layout.tsx";
import { useNews } from "../live.ts";
import { type Route, type View, writeRoute } from "../route.ts";
import { titles } from "../views.ts";

import { ListPane } from "./list-pane.tsx";
import { type Listed, useList } from "./list.ts";
import type { Rows } from "./rows.tsx";
import { useTimeRange } from "./time-filter.tsx";

interface FilterParts<Item> {
  readonly route: Route;
  /** Null until the first page is loaded. */
  readonly items: readonly Item[] | null;
}

interface DetailParts {
  readonly id: string;
  /** The address of the list without the open item. */
  readonly close: string;
  readonly route: Route;
  /** Called after a change, so that the list loads again. */
  readonly changed: () => void;
}

/** A view that is a list, with the open item beside it. */
interface ListView<Item extends Listed> extends Omit<Rows<Item>, "address"> {
  readonly view: View;
  /** By default that of the item in this view. */
  readonly address?: Rows<Item>["address"];
  /** The list in the API, with the filters of the address and the period that it names. */
  readonly path: (query: URLSearchParams, range: ReturnType<typeof useTimeRange>) => string;
  /** Whether an item comes before the others. */
  readonly isFirst?: (item: Item) => boolean;
  /** How often to look for new items. */
  readonly pollIntervalMs: number;
  /** A list without them ignores the query. */
  readonly filters?: (parts: FilterParts<Item>) => ComponentChildren;
  /** Beside the filters or, on a phone, beside the title. */
  readonly action?: (query: URLSearchParams) => ComponentChildren;
  /** Shown if there are no items. */
  readonly empty: ComponentChildren;
  /** Shown if no items match the filters. */
  readonly noMatch?: (query: URLSearchParams) => ComponentChildren;
  readonly detail?: (parts: DetailParts) => ComponentChildren;
}

const noQuery = new URLSearchParams();

/** Makes the component of a view from its definition. */
export function listView<Item extends Listed>(definition: ListView<Item>) {
  const { view, filters, action, isFirst, noMatch, detail } = definition;
  const address = (item: Item, query: URLSearchParams) => writeRoute(view, item.id, query);
  const rows = { address, ...definition };
  return function View({ route }: { readonly route: Route }) {
    const { id } = route;
    const query = filters === undefined ? noQuery : route.query;
    const path = definition.path(query, useTimeRange(query));
    const loaded = useList<Item>(path, definition.pollIntervalMs);
    const rank = (item: Item) => (isFirst?.(item) === true ? 0 : 1);
    const items = loaded.items?.toSorted((one, other) => rank(one) - rank(other)) ?? null;
    const list = { ...loaded, items };
    useNews(list.refresh);
    const isFiltered = noMatch !== undefined && query.size > 0;
    const empty = isFiltered ? noMatch(query) : definition.empty;
    const close = writeRoute(view, null, query);
    return (
      <Split
        title={titles[view]}
        list={<ListPane of={rows} list={list} open={id} query={query} empty={empty} />}
        detail={id && detail ? detail({ id, close, route, changed: list.refresh }) : null}
      >
        {filters?.({ route, items: list.items })}
        {action?.(query)}
      </Split>
    );
  };
}
