import type { Verify } from "../../identity/auth/token.ts";
import type { Context } from "../../base/context.ts";
import type { Creation } from "../../identity/idempotency/idempotent.ts";
import type { Page, PageRequest } from "../../base/page.ts";

import { authenticate } from "./auth.ts";
import { readIdempotencyKey } from "./idempotency-key.ts";
import { readJson } from "./json-body.ts";
import { linkHeader, readPageRequest } from "./pagination.ts";
import { requestIdOf } from "./request-id.ts";
import { urlOf } from "./url.ts";

/** What Elysia hands a handler, as far as our doors look at it. */
export interface Exchange {
  readonly request: Request;
  readonly set: { headers: Record<string, string | number>; status?: number | string };
}

/** Knows who asks: every door that is not public asks it first. */
export type Authenticated = (exchange: Exchange) => Promise<Context>;

/** The context of an authenticated request. What it is answered is not for any cache to keep. */
export function authenticated(verify: Verify): Authenticated {
  return async ({ request, set }) => {
    const session = await authenticate(request, verify);
    set.headers["cache-control"] = "no-store";
    return { ...session, requestId: requestIdOf(set.headers) };
  };
}

/** In the API documents: an operation that needs a token. */
export const bearer = [{ bearer: [] }];

/**
 * Serves a list: reads the page request, calls the verb, adds the `Link` header. `extras` are what the
 * list can include beside its total.
 */
export async function servePage<Item>(
  { request, set }: Exchange,
  idPrefix: string,
  list: (page: PageRequest, query: URLSearchParams) => Promise<Page<Item>>,
  extras: readonly string[] = [],
): Promise<Page<Item>> {
  const url = urlOf(request);
  const asked = readPageRequest(url.searchParams, idPrefix, extras);
  const page = await list(asked, url.searchParams);
  const link = linkHeader(url, asked, page);
  if (link !== null) set.headers["link"] = link;
  return page;
}

/**
 * Serves a POST that makes something, once for each `Idempotency-Key`: reads key and body, calls the
 * verb, answers 201 with the `Location` of what was made.
 */
export async function serveCreation<Made>(
  { request, set }: Exchange,
  create: (body: unknown, key: string | null) => Promise<Creation<Made>>,
  locationOf: (made: Made) => string,
): Promise<Made> {
  const key = readIdempotencyKey(request);
  const { made, replayed } = await create(await readJson(request), key);
  set.status = 201;
  set.headers["location"] = locationOf(made);
  if (replayed) set.headers["idempotent-replayed"] = "true";
  return made;
}
