import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { List, Listed } from "./list.ts";
import { counted } from "./text.tsx";
import { ErrorMessage, Loading } from "./ui.tsx";

interface Parts<Item extends Listed> {
  /** The items' name: singular and plural. */
  readonly what: readonly [string, string];
  readonly list: List<Item>;
  /** Renders an item. May depend only on the item, on whether it is `open` and on `query`. */
  readonly row: (item: Item) => ComponentChildren;
  /** The id of the open item. */
  readonly open: string | null;
  readonly query: URLSearchParams;
  readonly empty: ComponentChildren;
  /** The names of the columns, in the order of the row's cells. Hidden where rows have two lines. */
  readonly head: readonly string[];
}

/** A list that loads older items on scrolling. New items at the top do not move the visible ones. */
export function ListPane<Item extends Listed>({
  what,
  list,
  row,
  open,
  query,
  empty,
  head,
}: Parts<Item>) {
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
      {list.error !== null && <ErrorMessage error={list.error} retry={list.refresh} />}
      {list.items === null && list.error === null && <Loading what={what[1]} />}
      {list.items !== null && count === 0 && empty}
      {count > 0 && <ListHead of={what[0].replaceAll(" ", "-")} names={head} />}
      {count > 0 && (
        <ul class="rows">
          {list.items?.map((item) => (
            <Row
              key={item.id}
              item={item}
              isOpen={item.id === open}
              search={query.toString()}
              row={row}
            />
          ))}
        </ul>
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

interface HeadParts {
  /** The class of the rows. */
  readonly of: string;
  /** In the order of the columns. */
  readonly names: readonly string[];
}

/** The names of a list's columns. Hidden where rows have two lines. */
export function ListHead({ of: rows, names }: HeadParts) {
  return (
    // Screen readers hear each row as one link: the heads would only repeat.
    <div class={`row head ${rows}`} aria-hidden="true">
      {names.map((name) => (
        <span class="cell" key={name}>
          {name}
        </span>
      ))}
    </div>
  );
}

interface RowParts<Item extends Listed> {
  readonly item: Item;
  readonly isOpen: boolean;
  readonly search: string;
  readonly row: (item: Item) => ComponentChildren;
}

/** Renders only after a change: a list may have thousands of rows and is refreshed every few seconds. */
function Row<Item extends Listed>({ item, isOpen, search, row }: RowParts<Item>) {
  return useMemo(() => <li>{row(item)}</li>, [item, isOpen, search]);
}

/** Screen readers announce new items at most this often. */
const announceIntervalMs = 30_000;

/** Announces the number of new items to screen readers. */
function Arrivals({ arrived, what }: Pick<Parts<never>, "what"> & { readonly arrived: number }) {
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

/** A list with the open item beside it or, on a phone, in place of it. */
export function Split({
  title,
  filters,
  action = null,
  list,
  detail,
}: {
  readonly title: string;
  readonly filters: ComponentChildren;
  /** Beside the filters or, on a phone, beside the title. */
  readonly action?: ComponentChildren;
  readonly list: ComponentChildren;
  readonly detail: ComponentChildren | null;
}) {
  useFocusReturn(detail !== null);
  return (
    <div class={detail === null ? "split" : "split open"}>
      <section class="master" aria-label={title}>
        <header class="bar">
          <h1>{title}</h1>
          {filters}
          {action}
        </header>
        {list}
      </section>
      {detail}
    </div>
  );
}

/** When the detail pane closes with the focus in it, moves the focus back to the row. */
function useFocusReturn(isOpen: boolean): void {
  const row = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    if (isOpen) row.current = document.querySelector("[data-row][aria-current]") ?? row.current;
  });
  useLayoutEffect(() => {
    if (!isOpen && !hasFocus()) row.current?.focus();
  }, [isOpen]);
}

/** Whether a visible element has the focus. */
function hasFocus(): boolean {
  const { activeElement, body } = document;
  if (activeElement === null || activeElement === body) return false;
  return activeElement.checkVisibility({ visibilityProperty: true });
}

/** The detail pane. Esc closes it; Enter on its row focuses it. */
export function Detail({
  label,
  close,
  children,
}: {
  readonly label: string;
  /** The address of the list without the open item. */
  readonly close: string;
  readonly children: ComponentChildren;
}) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the pane replaces the list, which may have had the focus.
    if (!hasFocus()) pane.current?.focus({ preventScroll: true });
  }, [label]);
  return (
    <section class="detail" aria-label={label} tabIndex={-1} ref={pane} data-pane>
      <a class="close" href={close} data-close aria-label="Close">
        <span aria-hidden="true">✕</span>
      </a>
      {children}
    </section>
  );
}
