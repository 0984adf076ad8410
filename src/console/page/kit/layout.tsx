import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import type { Loaded } from "./load.ts";
import { Waiting } from "./ui.tsx";

interface BarParts {
  readonly title: string;
  /** The controls beside the title. */
  readonly children?: ComponentChildren;
}

function Bar({ title, children }: BarParts) {
  return (
    <header class="bar">
      <h1>{title}</h1>
      {children}
    </header>
  );
}

interface PageParts extends Pick<BarParts, "title"> {
  /** Links and buttons beside the title. */
  readonly actions?: ComponentChildren;
  /** More classes of the page. */
  readonly look?: string;
  readonly children: ComponentChildren;
}

/** A view without a list. */
export function Page({ title, actions, look = "", children }: PageParts) {
  return (
    <div class={`page ${look}`}>
      <Bar title={title}>{actions}</Bar>
      {children}
    </div>
  );
}

interface SplitParts extends BarParts {
  readonly list: ComponentChildren;
  readonly detail: ComponentChildren | null;
}

/** A list with the open item beside it or, on a phone, in place of it. */
export function Split({ title, children, list, detail }: SplitParts) {
  useFocusReturn(detail !== null);
  return (
    <div class={detail === null ? "split" : "split open"}>
      <section class="master" aria-label={title}>
        <Bar title={title}>{children}</Bar>
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

interface DetailParts {
  readonly label: string;
  /** The address of the list without the open item. */
  readonly close: string;
  readonly children: ComponentChildren;
}

/** The detail pane. Esc closes it; Enter on its row focuses it. */
export function Detail({ label, close, children }: DetailParts) {
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

interface LoadedParts<Item> extends Pick<DetailParts, "label" | "close"> {
  readonly of: Loaded<Item>;
  readonly children: (item: Item) => ComponentChildren;
}

/** The detail pane of an item that is loaded for it. Keeps showing the item when a reload fails. */
export function LoadedDetail<Item>({ label, close, of: loaded, children }: LoadedParts<Item>) {
  return (
    <Detail label={label} close={close}>
      {loaded.value === null ? (
        <Waiting for={loaded} what={label.toLowerCase()} />
      ) : (
        children(loaded.value)
      )}
    </Detail>
  );
}
