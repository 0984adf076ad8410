import { useEffect, useMemo, useReducer, useRef } from "preact/hooks";

import { type ApiError, ask } from "./api.ts";
import { faultOf } from "./load.ts";
import type { Page } from "./wire.ts";

/** What every list's items have. */
export interface Listed {
  readonly id: string;
  readonly createdAt: string;
}

export interface List<Item extends Listed> {
  /** Newest first; null until the first page is there. */
  readonly items: readonly Item[] | null;
  /** How many new ones wait until the reader wants them, so that nothing moves under their eyes. */
  readonly held: number;
  /** Whether even more wait than were counted. */
  readonly isHeldMore: boolean;
  /** How many have come since the list was first there, as far as they were read. */
  readonly arrived: number;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: ApiError | null;
  /** Asks for the next older page. */
  readonly loadOlder: () => void;
  /** Asks for what is new; it is shown at once when `isAtTop()`. */
  readonly refresh: () => void;
  /** Shows what is held. */
  readonly show: () => void;
}

const pageSize = 50;
/** When more than these pages are new at once, the list begins anew. */
const maxNewPages = 4;
/** A list that has grown beyond this begins anew when its reader is at the top. */
const maxItems = 2_000;

/** A list of the API by its cursors, kept up to date from the top. `path` holds the filters. */
export function useList<Item extends Listed>(path: string, isAtTop: () => boolean): List<Item> {
  const [, draw] = useReducer((count: number, by: number) => count + by, 0);
  const top = useRef(isAtTop);
  top.current = isAtTop;
  const store = useMemo(
    () =>
      listStore<Item>(
        path,
        () => top.current(),
        () => draw(1),
      ),
    [path],
  );
  useEffect(() => {
    store.refresh();
    return () => store.close();
  }, [store]);
  return store.read();
}

function listStore<Item extends Listed>(path: string, isAtTop: () => boolean, changed: () => void) {
  const over = new AbortController();
  const known = new Set<string>();
  const held = new Set<string>();
  let items: readonly Item[] = [];
  let older: string | null = null;
  let isLoaded = false;
  let isBusy = false;
  let isRefreshDue = false;
  /** New ones beyond what was read: to show them, the list begins anew. */
  let missed = 0;
  let arrived = 0;
  let error: ApiError | null = null;

  const pageAt = (cursor: string | null) =>
    ask<Page<Item>>(withCursor(path, cursor), { signal: over.signal });

  /** One question at a time; a refresh asked for in the meantime comes after it. */
  async function run(work: () => Promise<void>): Promise<void> {
    isBusy = true;
    changed();
    try {
      await work();
      error = null;
    } catch (failure) {
      error = faultOf(failure);
    }
    isBusy = false;
    if (over.signal.aborted) return;
    changed();
    if (isRefreshDue) refresh();
  }

  function refresh(): void {
    isRefreshDue = isBusy;
    if (!isBusy) void run(readNewer);
  }

  /** Reads from the top until it meets what is known: what was committed late is found too. */
  async function readNewer(): Promise<void> {
    const fresh: Item[] = [];
    let next: string | null = null;
    let meets = false;
    for (let pages = 0; pages < maxNewPages && !meets; pages += 1) {
      const { data, pagination } = await pageAt(next);
      fresh.push(...data);
      next = pagination.hasMore ? pagination.nextCursor : null;
      meets = next === null || data.some(({ id }) => known.has(id));
      if (!isLoaded) break;
    }
    const isShown = !isLoaded || isAtTop();
    if (!meets && !isShown) {
      missed = fresh.length;
      return;
    }
    if (isLoaded) arrived += fresh.filter(({ id }) => !known.has(id)).length;
    if (!meets || (isShown && items.length > maxItems)) forget();
    if (items.length === 0) older = next;
    for (const { id } of fresh) if (!known.has(id) && !isShown) held.add(id);
    if (isShown) held.clear();
    add(fresh);
    isLoaded = true;
  }

  function forget(): void {
    items = [];
    missed = 0;
    known.clear();
    held.clear();
  }

  async function readOlder(): Promise<void> {
    const { data, pagination } = await pageAt(older);
    older = pagination.hasMore ? pagination.nextCursor : null;
    add(data);
  }

  function add(more: readonly Item[]): void {
    for (const { id } of more) known.add(id);
    items = merged(items, more);
  }

  const loadOlder = () => {
    if (!isBusy && older !== null) void run(readOlder);
  };
  const show = () => {
    held.clear();
    changed();
    // The reader is at the top now.
    if (missed > 0) refresh();
  };
  return {
    refresh,
    close: () => over.abort(),
    read: (): List<Item> => ({
      items: isLoaded ? items.filter(({ id }) => !held.has(id)) : null,
      held: held.size + missed,
      isHeldMore: missed > 0,
      arrived,
      hasMore: older !== null,
      isLoading: isBusy,
      error,
      loadOlder,
      refresh,
      show,
    }),
  };
}

function withCursor(path: string, cursor: string | null): string {
  const after = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  return `${path}${path.includes("?") ? "&" : "?"}limit=${pageSize}${after}`;
}

/** Both, each item once and as it was last seen, in the order of the API. */
function merged<Item extends Listed>(
  known: readonly Item[],
  seen: readonly Item[],
): readonly Item[] {
  const byId = new Map([...known, ...seen].map((item) => [item.id, item]));
  return [...byId.values()].toSorted(
    (a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id),
  );
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
