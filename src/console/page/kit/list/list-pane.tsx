import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { counted } from "../text.tsx";
import { Time } from "../time.tsx";
import { Waiting } from "../ui.tsx";

import type { List, Listed } from "./list.ts";
import { ItemRow, RowList, type RowParts, type Rows } from "./rows.tsx";

interface Parts<Item extends Listed> {
  readonly of: Rows<Item>;
  readonly list: List<Item>;
  /** The id of the open item. */
  readonly open: string | null;
  readonly query: URLSearchParams;
  readonly empty: ComponentChildren;
}

/** A list that loads older items on scrolling. New items at the top do not move the visible ones. */
export function ListPane<Item extends Listed>({ of: rows, list, open, query, empty }: Parts<Item>) {
  const { what } = rows;
  const { scroller } = list;
  const end = useRef<HTMLDivElement>(null);
  const count = list.items?.length ?? 0;
  useEffect(() => {
    const target = end.current;
    if (target === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && list.loadOlder(),
      { root: scroller.current, rootMargin: "800px" },
    );
    observer.observe(target);
    return () => observer.disconnect();
    // Observe again after the list has grown: an end that stays visible is not reported a second time.
  }, [count, list.hasMore, list.isLoading]);

  return (
    <div class="list" ref={scroller} data-list>
      <Arrivals arrived={list.arrived} what={what} />
      {list.held > 0 && (
        <button
          type="button"
          class="held"
          onClick={() => {
            scroller.current?.scrollTo({ top: 0 });
            list.show();
          }}
        >
          Show {list.isHeldMore && "more than "}
          {counted(list.held, `new ${what[0]}`, `new ${what[1]}`)}
        </button>
      )}
      <Waiting
        for={{ value: list.items, error: list.error, reload: list.refresh }}
        what={what[1]}
      />
      {list.items !== null && count === 0 && empty}
      {count > 0 && (
        <RowList of={rows}>
          {groupsOf(list.items ?? [], rows).map((items, index, groups) => (
            <Fragment key={items[0]?.id}>
              <Heading of={rows} before={groups[index - 1]?.at(-1)} item={items[0]} />
              <Group of={rows} items={items} list={list} open={open} query={query} />
            </Fragment>
          ))}
        </RowList>
      )}
      {count > 0 && (
        <div class="end" ref={end}>
          {list.hasMore ? (
            <button type="button" onClick={list.loadOlder}>
              {list.isLoading ? "Loading…" : "Load older"}
            </button>
          ) : (
            <span class="quiet">End of list · {counted(count, ...what)}</span>
          )}
        </div>
      )}
    </div>
  );
}

interface HeadingParts<Item> {
  readonly of: Rows<Item>;
  readonly before: Item | undefined;
  readonly item: Item | undefined;
}

/** The heading of an item's section, where it begins. */
function Heading<Item>({ of: { sectionOf }, before, item }: HeadingParts<Item>) {
  if (sectionOf === undefined || item === undefined) return null;
  const section = sectionOf(item);
  if (before !== undefined && sectionOf(before) === section) return null;
  return (
    <li class="section">
      <h2>{section}</h2>
    </li>
  );
}

/** Neighbours with equal keys; without keys, each item alone. */
function groupsOf<Item>(items: readonly Item[], { groupOf }: Rows<Item>): readonly Item[][] {
  const groups: Item[][] = [];
  let last: string | null = null;
  for (const item of items) {
    const key = groupOf?.(item) ?? null;
    if (key !== null && key === last) groups.at(-1)?.push(item);
    else groups.push([item]);
    last = key;
  }
  return groups;
}

interface GroupParts<Item extends Listed> extends Omit<Parts<Item>, "empty"> {
  readonly items: readonly Item[];
}

/** The newest of equal items, and the others on demand or while one of them is open. */
function Group<Item extends Listed>({ items, of: rows, list, open, query }: GroupParts<Item>) {
  const [isExpanded, setExpanded] = useState(false);
  const isAll = isExpanded || items.slice(1).some(({ id }) => id === open);
  const oldest = items.at(-1);
  const isCut = list.hasMore && oldest?.id === list.items?.at(-1)?.id;
  return (
    <>
      {(isAll ? items : items.slice(0, 1)).map((item) => (
        <Row
          key={item.id}
          of={rows}
          item={item}
          isOpen={item.id === open}
          query={query}
          changed={list.refresh}
        />
      ))}
      {!isAll && oldest !== undefined && items.length > 1 && (
        <li class="gap">
          <button type="button" class="link" onClick={() => setExpanded(true)}>
            {items.length - 1} {isCut ? "or more" : "more"} like this, the oldest{" "}
            <Time at={oldest.createdAt} />
          </button>
        </li>
      )}
    </>
  );
}

/** Renders only after a change: a list may have thousands of rows and is refreshed every few seconds. */
function Row<Item extends Listed>(parts: RowParts<Item>) {
  const { item, isOpen, query } = parts;
  return useMemo(
    () => (
      <li>
        <ItemRow {...parts} />
        <Beside {...parts} />
      </li>
    ),
    [item, isOpen, query.toString()],
  );
}

function Beside<Item>({ of: { beside }, item, changed = () => {} }: RowParts<Item>) {
  const content = beside?.(item, changed);
  return content ? <div class="beside">{content}</div> : null;
}

/** Screen readers announce new items at most this often. */
const announceIntervalMs = 30_000;

/** Announces the number of new items to screen readers. */
function Arrivals({ arrived, what }: Pick<Rows<never>, "what"> & { readonly arrived: number }) {
  const announced = useRef({ count: 0, atMs: 0 });
  const [text, setText] = useState("");
  useEffect(() => {
    const count = arrived - announced.current.count;
    if (count <= 0) {
      // The filters have changed: this is a new list, which counts from zero.
      announced.current.count = arrived;
      return undefined;
    }
    // Screen readers announce only changes: clear the text, in case the next one is the same.
    setText("");
    const waitMs = announced.current.atMs + announceIntervalMs - Date.now();
    const timer = setTimeout(
      () => {
        announced.current = { count: arrived, atMs: Date.now() };
        setText(counted(count, `new ${what[0]}`, `new ${what[1]}`));
      },
      Math.max(0, waitMs),
    );
    return () => clearTimeout(timer);
  }, [arrived]);
  return (
    <p class="hidden-label" role="status" data-arrivals>
      {text}
    </p>
  );
}
