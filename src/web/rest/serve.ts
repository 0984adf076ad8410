import type { Page, PageRequest } from "../../base/page.ts";
import { choices } from "../../base/parameters.ts";

import { linkHeader, readPageRequest } from "./pagination.ts";
import { urlOf } from "./url.ts";

/** The part of Elysia's context that the handlers use. */
export interface Exchange {
  readonly request: Request;
  readonly set: { headers: Record<string, string | number>; status?: number | string };
}

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
