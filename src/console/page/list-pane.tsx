import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { List, Listed } from "./list.ts";
import { counted } from "./text.tsx";
import { Fault, Loading } from "./ui.tsx";

interface Parts<Item extends Listed> {
  /** What is listed: one, and many. */
  readonly what: readonly [string, string];
  readonly list: List<Item>;
  readonly scroller: { current: HTMLDivElement | null };
  readonly row: (item: Item) => ComponentChildren;
  readonly empty: ComponentChildren;
}

/** A list that goes on as it is scrolled, and grows at the top without moving what is read. */
export function ListPane<Item extends Listed>({ what, list, scroller, row, empty }: Parts<Item>) {
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
            <li key={item.id}>{row(item)}</li>
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

/** What is open. Esc closes it. */
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
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // On a phone the list is gone, and with it the focus.
    if (document.activeElement === document.body || document.activeElement === null) {
      link.current?.focus({ preventScroll: true });
    }
  }, [label]);
  return (
    <section class="detail" aria-label={label}>
      <a class="close" href={close} ref={link} data-close aria-label="Close">
        <span aria-hidden="true">✕</span>
      </a>
      {children}
    </section>
  );
}
