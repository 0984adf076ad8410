import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import type { List, Listed } from "./list.ts";
import { counted } from "./text.tsx";
import { Fault, Loading } from "./ui.tsx";

interface Parts<Item extends Listed> {
  /** What is listed: one, and many. */
  readonly what: readonly [string, string];
  readonly list: List<Item>;
  readonly scroller: { current: HTMLDivElement | null };
  /** Draws one; by nothing but the item, whether it is `open`, and the address's `query`. */
  readonly row: (item: Item) => ComponentChildren;
  /** The id of what is open. */
  readonly open: string | null;
  readonly query: URLSearchParams;
  readonly empty: ComponentChildren;
}

/** A list that goes on as it is scrolled, and grows at the top without moving what is read. */
export function ListPane<Item extends Listed>({
  what,
  list,
  scroller,
  row,
  open,
  query,
  empty,
}: Parts<Item>) {
  const end = useRef<HTMLDivElement>(null);
  const count = list.items?.length ?? 0;
  useEffect(() => {
    const mark = end.current;
    if (mark === null) return undefined;
    const watcher = new IntersectionObserver(
      (seen) => seen.some(({ isIntersecting }) => isIntersecting) && list.loadOlder(),
      { root: scroller.current, rootMargin: "800px" },
    );
    watcher.observe(mark);
    return () => watcher.disconnect();
    // Watched anew when the list has grown: an end that stays in sight is not reported twice.
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
          {list.isHeldMore ? `More than ${list.held}` : list.held} new — show
        </button>
      )}
      {list.error !== null && <Fault error={list.error} retry={list.refresh} />}
      {list.items === null && list.error === null && <Loading what={what[1]} />}
      {list.items !== null && count === 0 && empty}
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
            <span class="quiet">That is all: {counted(count, ...what)}</span>
          )}
        </div>
      )}
    </div>
  );
}

interface RowParts<Item extends Listed> {
  readonly item: Item;
  readonly isOpen: boolean;
  readonly search: string;
  readonly row: (item: Item) => ComponentChildren;
}

/** Drawn anew only when it has changed: a list may have thousands, and is looked at every few seconds. */
function Row<Item extends Listed>({ item, isOpen, search, row }: RowParts<Item>) {
  return useMemo(() => <li>{row(item)}</li>, [item, isOpen, search]);
}

/** Who does not see the list is told at most this often. */
const tellEveryMs = 30_000;

/** Says how many came, to those who hear the page; a number alone, since there may be many. */
function Arrivals({ arrived, what }: Pick<Parts<never>, "what"> & { readonly arrived: number }) {
  const told = useRef({ count: 0, atMs: 0 });
  const [text, setText] = useState("");
  useEffect(() => {
    const count = arrived - told.current.count;
    if (count <= 0) {
      // With other filters it is another list, which counts anew.
      told.current.count = arrived;
      return undefined;
    }
    // What is said must change to be heard again.
    setText("");
    const waitMs = told.current.atMs + tellEveryMs - Date.now();
    const timer = setTimeout(
      () => {
        told.current = { count: arrived, atMs: Date.now() };
        setText(`New: ${counted(count, ...what)}`);
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

/** A list, and beside it (on a phone instead of it) what is open. */
export function Split({
  title,
  filters,
  list,
  detail,
}: {
  readonly title: string;
  readonly filters: ComponentChildren;
  readonly list: ComponentChildren;
  readonly detail: ComponentChildren | null;
}) {
  useReturn(detail !== null);
  return (
    <div class={detail === null ? "split" : "split open"}>
      <section class="master" aria-label={title}>
        <header class="bar">
          <h1>{title}</h1>
          {filters}
        </header>
        {list}
      </section>
      {detail}
    </div>
  );
}

/** When what is open is closed, the focus that it had goes back to its row. */
function useReturn(isOpen: boolean): void {
  const row = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    if (isOpen) row.current = document.querySelector("[data-row][aria-current]") ?? row.current;
  });
  useLayoutEffect(() => {
    if (!isOpen && !hasFocus()) row.current?.focus();
  }, [isOpen]);
}

/** Whether the focus is on anything that is there to be seen. */
function hasFocus(): boolean {
  const { activeElement, body } = document;
  if (activeElement === null || activeElement === body) return false;
  return activeElement.checkVisibility({ visibilityProperty: true });
}

/** What is open. Esc closes it, Enter on its row moves into it. */
export function Detail({
  label,
  close,
  children,
}: {
  readonly label: string;
  /** The address without it. */
  readonly close: string;
  readonly children: ComponentChildren;
}) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone the list is gone, and with it the focus.
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
