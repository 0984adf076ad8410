import { useEffect, useMemo, useReducer, useRef } from "preact/hooks";

import { type ApiError, callApi } from "../api.ts";
import { useInterval } from "../live.ts";
import { toApiError } from "../load.ts";
import type { Page } from "../wire.ts";

/** The fields that all list items have. */
export interface Listed {
  readonly id: string;
  readonly createdAt: string;
}

export interface List<Item extends Listed> {
  /** The element that scrolls the list. */
  readonly scroller: { current: HTMLDivElement | null };
  /** Newest first; null until the first page is loaded. */
  readonly items: readonly Item[] | null;
  /** Number of new items that are held back while the list is scrolled down, so that nothing moves. */
  readonly held: number;
  /** Whether there are more new items than `held` counts. */
  readonly isHeldMore: boolean;
  /** Number of items that arrived after the first load. */
  readonly arrived: number;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: ApiError | null;
  /** Loads the next older page. */
  readonly loadOlder: () => void;
  /** Loads new items, and shows them at once unless the list is scrolled down. */
  readonly refresh: () => void;
  /** Shows the items that are held back. */
  readonly show: () => void;
}

const pageSize = 50;
/** If more pages than this are new, the list is reset instead of extended. */
const maxNewPages = 4;
/** A longer list is reset the next time it is refreshed at the top. */
const maxItems = 2_000;

/** A list that is scrolled down by less than this, in pixels, is at its top. */
const topPixels = 8;

/**
 * Follows a paginated list of the API, looking for new items every `pollIntervalMs`, and adds them at the top.
 * `path` includes the filters.
 */
export function useList<Item extends Listed>(path: string, pollIntervalMs: number): List<Item> {
  const [, render] = useReducer((count: number, by: number) => count + by, 0);
  const scroller = useRef<HTMLDivElement>(null);
  const store = useMemo(() => {
    const isAtTop = () => (scroller.current?.scrollTop ?? 0) < topPixels;
    return listStore<Item>(path, isAtTop, () => render(1));
  }, [path]);
  useEffect(() => {
    store.refresh();
    return () => store.close();
  }, [store]);
  useInterval(store.refresh, pollIntervalMs);
  return { ...store.read(), scroller };
}

function listStore<Item extends Listed>(path: string, isAtTop: () => boolean, changed: () => void) {
  const closed = new AbortController();
  const known = new Set<string>();
  const held = new Set<string>();
  let items: readonly Item[] = [];
  let older: string | null = null;
  let isLoaded = false;
  let isBusy = false;
  let isRefreshDue = false;
  /** Number of new items that were read but not kept, since more follow: showing them resets the list. */
  let missed = 0;
  let arrived = 0;
  let error: ApiError | null = null;

  const pageAt = (cursor: string | null) =>
    callApi<Page<Item>>(withCursor(path, cursor), { signal: closed.signal });

  /** Runs one request at a time. A refresh requested meanwhile runs afterwards. */
  async function run(work: () => Promise<void>): Promise<void> {
    isBusy = true;
    changed();
    try {
      await work();
      error = null;
    } catch (cause) {
      error = toApiError(cause);
    }
    isBusy = false;
    if (closed.signal.aborted) return;
    changed();
    if (isRefreshDue) refresh();
  }

  function refresh(): void {
    isRefreshDue = isBusy;
    if (!isBusy) void run(readNewer);
  }

  /**
   * Reads pages from the top until one contains a known item. Merges whole pages, which also finds items
   * that were committed late and sort below known ones.
   */
  async function readNewer(): Promise<void> {
    const fresh: Item[] = [];
    let next: string | null = null;
    let isConnected = false;
    for (let pages = 0; pages < maxNewPages && !isConnected; pages += 1) {
      const { data, pagination } = await pageAt(next);
      fresh.push(...data);
      next = pagination.hasMore ? pagination.nextCursor : null;
      isConnected = next === null || data.some(({ id }) => known.has(id));
      if (!isLoaded) break;
    }
    const isShown = !isLoaded || isAtTop();
    if (!isConnected && !isShown) {
      missed = fresh.length;
      return;
    }
    if (isLoaded) arrived += fresh.filter(({ id }) => !known.has(id)).length;
    if (!isConnected || (isShown && items.length > maxItems)) reset();
    if (items.length === 0) older = next;
    for (const { id } of fresh) if (!known.has(id) && !isShown) held.add(id);
    if (isShown) {
      held.clear();
      drop(fresh, next === null);
    }
    add(fresh);
    isLoaded = true;
  }

  function reset(): void {
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

  /** Drops what was deleted, or no longer matches: it is missing between the top and the last item of `fresh`. */
  function drop(fresh: readonly Item[], isWhole: boolean): void {
    const found = new Set(fresh.map(({ id }) => id));
    const last = fresh.at(-1);
    const isRead = (item: Item) => isWhole || (last !== undefined && newestFirst(item, last) < 0);
    items = items.filter((item) => found.has(item.id) || !isRead(item));
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
    // The caller has scrolled to the top, so the refresh shows the items.
    if (missed > 0) refresh();
  };
  return {
    refresh,
    close: () => closed.abort(),
    read: (): Omit<List<Item>, "scroller"> => ({
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

/** Merges two lists: each item once, in its latest version, in the order of the API. */
function merged<Item extends Listed>(
  known: readonly Item[],
  latest: readonly Item[],
): readonly Item[] {
  const byId = new Map([...known, ...latest].map((item) => [item.id, item]));
  return [...byId.values()].toSorted(newestFirst);
}

const newestFirst = (a: Listed, b: Listed): number =>
  compare(b.createdAt, a.createdAt) || compare(b.id, a.id);

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
