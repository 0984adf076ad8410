import { decodeCursor } from "../../base/cursor.ts";
import {
  defaultLimit,
  maxLimit,
  maxOffsetRows,
  type Page,
  type PageRequest,
} from "../../base/page.ts";
import {
  choice,
  choices,
  invalidParameter,
  parameterError,
  single,
  wholeNumber,
} from "../../base/parameters.ts";
import type { Exchange } from "../auth.ts";
import { urlOf } from "../url.ts";

/**
 * Serves a page of a list: reads the page parameters, calls `list` and sets the `Link` header. `extras` are
 * the values that `include` supports besides `total`; `included` are the requested ones.
 */
export async function servePage<Item, const Extra extends string = never>(
  { request, set }: Exchange,
  idPrefix: string,
  list: (
    page: PageRequest,
    query: URLSearchParams,
    included: readonly (Extra | "total")[],
  ) => Promise<Page<Item>>,
  extras: readonly Extra[] = [],
): Promise<Page<Item>> {
  const url = urlOf(request);
  const included = choices(url.searchParams, "include", ["total", ...extras]);
  const pageRequest = readPageRequest(url.searchParams, idPrefix, included.includes("total"));
  const page = await list(pageRequest, url.searchParams, included);
  const link = linkHeader(url, pageRequest, page);
  if (link !== null) set.headers["link"] = link;
  return page;
}

/**
 * Reads the page parameters of a query. `idPrefix` is the prefix of the list's ids. Throws
 * `invalid-parameter`, `invalid-cursor` or `conflicting-parameters`, each with the name of the parameter.
 */
function readPageRequest(
  query: URLSearchParams,
  idPrefix: string,
  withTotal: boolean,
): PageRequest {
  const limit = Math.min(wholeNumber(query, "limit", 1) ?? defaultLimit, maxLimit);
  const direction = choice(query, "direction", ["forward", "backward"]);
  const cursor = single(query, "cursor");
  const page = wholeNumber(query, "page", 1);
  if (page === undefined) {
    const position = cursor === undefined ? null : decodeCursor(cursor, idPrefix);
    return { limit, withTotal, direction: direction ?? "forward", cursor: position };
  }
  if (cursor !== undefined || direction !== undefined) {
    const other = cursor === undefined ? "direction" : "cursor";
    throw parameterError("conflicting-parameters", "page", `Cannot be used with ${other}`);
  }
  if (page * limit > maxOffsetRows) {
    const detail = `page × limit must not exceed ${maxOffsetRows}. Use cursor to go further`;
    throw invalidParameter("page", detail);
  }
  return { limit, withTotal, page };
}

/**
 * The `Link` header of a page (RFC 8288): `next` for older items, `prev` for newer ones; null without
 * either. Targets are relative, so that they work behind any proxy.
 */
export function linkHeader(url: URL, request: PageRequest, page: Page<unknown>): string | null {
  return linksTo(url, neighbours(request, page));
}

/** The `Link` header of a numbered page in a list without cursors. */
export function pageLinkHeader(url: URL, at: OffsetPage, hasMore: boolean): string | null {
  return linksTo(url, pagesBeside(at, hasMore, null));
}

type OffsetPage = { readonly page: number; readonly limit: number };

function linksTo(url: URL, neighbours: Neighbours): string | null {
  const links = Object.entries(neighbours).map(([rel, change]) => {
    const query = new URLSearchParams(url.search);
    for (const name of ["cursor", "direction", "page"]) query.delete(name);
    for (const [name, value] of Object.entries(change)) query.set(name, value);
    return `<${url.pathname}?${query.toString()}>; rel="${rel}"`;
  });
  return links.length === 0 ? null : links.join(", ");
}

/** Beyond the highest page number, `next` uses the cursor if there is one. */
function pagesBeside(
  { page, limit }: OffsetPage,
  hasMore: boolean,
  nextCursor: string | null,
): Neighbours {
  const isInReach = (page + 1) * limit <= maxOffsetRows;
  return {
    ...(hasMore && isInReach && { next: { page: String(page + 1) } }),
    ...(hasMore && !isInReach && nextCursor !== null && { next: { cursor: nextCursor } }),
    ...(page > 1 && { prev: { page: String(page - 1) } }),
  };
}

type Neighbours = { next?: Record<string, string>; prev?: Record<string, string> };

function neighbours(request: PageRequest, { pagination }: Page<unknown>): Neighbours {
  const { hasMore, nextCursor, prevCursor } = pagination;
  if ("page" in request) return pagesBeside(request, hasMore, nextCursor);
  const isForward = request.direction === "forward";
  // A cursor comes from an item, so there is at least one item in the opposite direction.
  const cameFrom = request.cursor !== null;
  const hasNext = isForward ? hasMore : cameFrom;
  const hasPrev = isForward ? cameFrom : hasMore;
  return {
    ...(hasNext && nextCursor !== null && { next: { cursor: nextCursor } }),
    ...(hasPrev && prevCursor !== null && { prev: { cursor: prevCursor, direction: "backward" } }),
  };
}
