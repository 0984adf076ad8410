import type { ComponentChildren } from "preact";

import type { Loaded } from "./load.ts";
import { ItemRow, RowList, type Rows } from "./rows.tsx";
import { Waiting } from "./ui.tsx";
import type { Page } from "./wire.ts";

interface Parts<Item> {
  readonly of: Rows<Item>;
  readonly list: Loaded<Page<Item>>;
  readonly open: string | null;
  readonly query: URLSearchParams;
  /** Shown if there are no items. */
  readonly empty: ComponentChildren;
}

/** A list of which only the first page of 100 is loaded. */
export function ShortList<Item extends { readonly id: string }>({
  of: rows,
  list,
  open,
  query,
  empty,
}: Parts<Item>) {
  const { data = [], pagination } = list.value ?? {};
  return (
    <div class="list" data-list>
      <Waiting for={list} what={rows.what[1]} />
      {list.value !== null && data.length === 0 && empty}
      {data.length > 0 && (
        <RowList of={rows}>
          {data.map((item) => (
            <li key={item.id}>
              <ItemRow of={rows} item={item} isOpen={item.id === open} query={query} />
            </li>
          ))}
        </RowList>
      )}
      {pagination?.hasMore === true && (
        <div class="end">
          <span class="quiet">Showing the newest 100.</span>
        </div>
      )}
    </div>
  );
}
