import { decodeCursor } from "../pagination/cursor.ts";
import {
  defaultLimit,
  maxLimit,
  maxOffsetRows,
  type Page,
  type PageRequest,
} from "../pagination/page.ts";

import { choice, choices, invalidParameter, parameterError, single, wholeNumber } from "./query.ts";

/**
 * The page that a query asks for. `idPrefix` is that of the list's ids, `extras` are what it can
 * include beside the total. Throws `invalid-parameter`, `invalid-cursor` or `conflicting-parameters`,
 * each naming the parameter.
 */
export function readPageRequest(
  query: URLSearchParams,
  idPrefix: string,
  extras: readonly string[] = [],
): PageRequest {
  const limit = Math.min(wholeNumber(query, "limit", 1) ?? defaultLimit, maxLimit);
  const withTotal = choices(query, "include", ["total", ...extras]).includes("total");
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
    const detail = `page × limit goes to ${maxOffsetRows}; use cursor to go further`;
    throw invalidParameter("page", detail);
  }
  return { limit, withTotal, page };
}

/**
 * The `Link` header of a page (RFC 8288): `next` towards older items, `prev` towards newer ones; null
 * when there is neither. Targets are relative, so they hold behind any proxy.
 */
export function linkHeader(url: URL, request: PageRequest, page: Page<unknown>): string | null {
  const links = Object.entries(neighbours(request, page)).map(([rel, change]) => {
    const query = new URLSearchParams(url.search);
    for (const name of ["cursor", "direction", "page"]) query.delete(name);
    for (const [name, value] of Object.entries(change)) query.set(name, value);
    return `<${url.pathname}?${query.toString()}>; rel="${rel}"`;
  });
  return links.length === 0 ? null : links.join(", ");
}

type Neighbours = { next?: Record<string, string>; prev?: Record<string, string> };

function neighbours(request: PageRequest, { pagination }: Page<unknown>): Neighbours {
  const { hasMore, nextCursor, prevCursor } = pagination;
  if ("page" in request) {
    return {
      ...(hasMore && { next: { page: String(request.page + 1) } }),
      ...(request.page > 1 && { prev: { page: String(request.page - 1) } }),
    };
  }
  const isForward = request.direction === "forward";
  // Against the direction of travel there is at least what the cursor was taken from.
  const cameFrom = request.cursor !== null;
  const hasNext = isForward ? hasMore : cameFrom;
  const hasPrev = isForward ? cameFrom : hasMore;
  return {
    ...(hasNext && nextCursor !== null && { next: { cursor: nextCursor } }),
    ...(hasPrev && prevCursor !== null && { prev: { cursor: prevCursor, direction: "backward" } }),
  };
}
