import type { Static, TSchema, TUnknown, TUnsafe } from "@sinclair/typebox";

import { type Context, requireAdmin } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { type Filters, type FiltersOf, queriedFilters } from "../../base/filters.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import type { Authenticate, Exchange } from "../auth.ts";
import type { AddressOf, Admit, Connection, Limit, LimitedKind } from "../client-address.ts";
import { readJson, strayJson } from "../json-body.ts";
import { type Included, listQuery } from "../page.schema.ts";
import { documented } from "../schema.ts";
import { urlOf } from "../url.ts";

import {
  documentedHeaders,
  linkHeaders,
  locationHeader,
  madeHeaders,
} from "./documented-headers.ts";
import { idempotencyHeaders, readIdempotencyKey } from "./idempotency-key.ts";
import { servePage } from "./pagination.ts";
import { problemResponses, type Problems } from "./problem.schema.ts";

/** How routes know who calls. */
export interface Callers {
  readonly authenticated: Authenticate;
  readonly addressOf: AddressOf;
  readonly limit: Limit;
  /** For routes that need no token. */
  readonly admit: (connection: Connection) => Admit;
}

/** Who may call the operations of a tag. Services check it; others get 403. */
interface Access {
  /** How the description of each operation ends. */
  readonly sentence: string;
  /** Checks it before a body is read too, so that others cannot upload one. */
  readonly beforeBody?: (ctx: Context) => void;
}

export const operatorsOnly: Access = { sentence: "Needs the role operator or admin." };
export const adminsOnly: Access = { sentence: "For admins.", beforeBody: requireAdmin };

/** What an operation takes and returns. Only responses are checked against their schema; services check the rest. */
interface Operation<Response, Params, Query, Body, Status> {
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly response: Response;
  /** Counts as a costly read, also if it is sent by POST. Searches and totals of lists do anyway. */
  readonly costly?: true;
  /** Is not counted: who uses up the limit with a stolen key must not prevent that it is revoked. */
  readonly endsAccess?: true;
  /**
   * Statuses of errors, besides those of every operation (400, 401, 429, 500, 503), of restricted ones (403) and of
   * those with a body (413, 415, 422).
   */
  readonly problems?: readonly Status[];
}

/** An authenticated request. */
interface Call<Params extends TSchema> extends Exchange, Connection {
  readonly ctx: Context;
  readonly params: Static<Params>;
  /** Empty if the operation has no query. */
  readonly query: URLSearchParams;
  /** The Idempotency-Key of a creation; null without one. */
  readonly key: string | null;
  /** The JSON of the body; undefined if the operation has none. */
  readonly body: unknown;
}

/** Elysia's context, as far as it is used here. */
type Received<Params extends TSchema> = Exchange & Connection & { readonly params: Static<Params> };

/** What Elysia and the OpenAPI document know of a route. */
interface Hook<
  Response,
  Params,
  Query,
  Body extends TSchema,
  Headers,
  Success extends number,
  Status extends number,
> {
  readonly parse: "none";
  readonly params: Params;
  readonly query: Query;
  readonly body: TUnsafe<Static<Body>>;
  readonly headers: Headers;
  readonly response: { readonly [S in Success]: Response } & Problems<
    400 | 401 | 429 | 500 | 503 | Status | (TUnknown extends Body ? never : 413 | 415 | 422)
  >;
  readonly detail: { readonly operationId: string };
}

const noQuery = new URLSearchParams();

/** Makes the routes of a tag, all of which need a token. */
export function routes<Given extends Access | undefined = undefined>(
  { authenticated, addressOf, limit }: Callers,
  tag: string,
  access?: Given,
) {
  type Denied = Given extends Access ? 403 : never;
  const denied = access ? [403] : [];

  function route<
    Response extends TSchema,
    Params extends TSchema = TUnknown,
    Query extends TSchema = TUnknown,
    Body extends TSchema = TUnknown,
    const Status extends number = never,
    Headers extends TSchema = TUnknown,
    const Success extends 200 | 201 = 200,
  >(
    operationId: string,
    summary: string,
    given: Operation<Response, Params, Query, Body, Status> & {
      readonly headers?: Headers;
      readonly success?: Success;
      /** The path of what was made. */
      readonly location?: (made: Static<Response>) => string;
      /** For an operation without a body: throws if it would not do what the JSON of one that was sent asks for. */
      readonly refuses?: (stray: unknown) => void;
      readonly serve: (call: Call<Params>) => Static<Response> | Promise<Static<Response>>;
    },
  ): [
    (exchange: Received<Params>) => Promise<Static<Response>>,
    Hook<Response, Params, Query, Body, Headers, Success, Status | Denied>,
  ] {
    const { params, query, headers, body, success = 200, location, serve } = given;
    const { response, refuses, costly, endsAccess } = given;
    const handler = async (exchange: Received<Params>) => {
      const ctx = await authenticated(exchange);
      // Elysia's value for a parameter that cannot be decoded, such as `%`.
      if (Object.values(Object(exchange.params)).includes(null))
        throw new AppError("not-found", "This path does not exist");
      if (body) access?.beforeBody?.(ctx);
      const { request, set, server } = exchange;
      const asked = query ? urlOf(request).searchParams : noQuery;
      const kind = costly ? "costly-reads" : kindOf(request.method, asked);
      if (kind !== null && !endsAccess) limit(ctx, kind, set.headers);
      refuses?.(await strayJson(request, addressOf(exchange)));
      const result = await serve({
        ctx,
        request,
        set,
        server,
        params: exchange.params,
        query: asked,
        key: headers ? readIdempotencyKey(request) : null,
        body: body && (await readJson(request, addressOf(exchange))),
      });
      if (location) set.headers["location"] = location(result);
      if (success !== 200) set.status = success;
      return result;
    };
    const problems = [...denied, ...(body ? [413, 415, 422] : []), ...(given.problems ?? [])];
    const hook = {
      parse: "none",
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(body && { body: documented(body) }),
      response: {
        [success]:
          location === undefined || "headers" in response
            ? response
            : documentedHeaders(response, locationHeader),
        ...problemResponses(401, 429, ...problems),
      },
      detail: describedOperation(tag, access, operationId, summary, given.description),
    };
    // Guarantee: a part that is not given has the type TUnknown; each given one is here under its name.
    return [
      handler,
      hook as unknown as Hook<Response, Params, Query, Body, Headers, Success, Status | Denied>,
    ];
  }

  /** A page of a list, whose ids start with `ids`. */
  function list<
    Item,
    Params extends TSchema = TUnknown,
    const Status extends number = never,
    const Extra extends string = never,
    const Defined extends Filters = Readonly<Record<never, never>>,
  >(
    operationId: string,
    summary: string,
    given: Omit<Operation<TUnsafe<Page<Item>>, Params, TUnknown, TUnknown, Status>, "query"> & {
      readonly ids: string;
      readonly filters?: Defined;
      readonly include?: Included<Extra>;
      readonly serve: (
        call: Call<Params> & {
          readonly page: PageRequest;
          readonly filters: FiltersOf<Defined>;
          readonly included: readonly (Extra | "total")[];
        },
      ) => Promise<Page<NoInfer<Item>>>;
    },
  ) {
    const { ids, filters: defined, include, response, serve, ...rest } = given;
    return route(operationId, summary, {
      ...rest,
      query: listQuery(defined ?? {}, include),
      response: documentedHeaders(response, linkHeaders),
      serve: (call) =>
        servePage(
          call,
          ids,
          (page, query, included) => {
            // Guarantee: without filters, Defined is its default, which has no names.
            const filters = queriedFilters((defined ?? {}) as Defined, query);
            return serve({ ...call, page, filters, included });
          },
          include?.words,
        ),
    });
  }

  /** Creates a resource, once per `Idempotency-Key`, and returns its `Location`. */
  function creation<
    Response extends TSchema,
    Body extends TSchema,
    const Status extends number = never,
  >(
    operationId: string,
    summary: string,
    given: Operation<Response, TUnknown, TUnknown, Body, Status> & {
      readonly location: (made: Static<Response>) => string;
      readonly serve: (
        call: Call<TUnknown>,
      ) => Promise<{ readonly made: Static<Response>; readonly replayed: boolean }>;
    },
  ) {
    const { response, serve, ...rest } = given;
    return route(operationId, summary, {
      ...rest,
      headers: idempotencyHeaders,
      success: 201,
      response: documentedHeaders(response, madeHeaders),
      serve: async (call) => {
        const { made, replayed } = await serve(call);
        if (replayed) call.set.headers["idempotent-replayed"] = "true";
        return made;
      },
    });
  }

  return { route, list, creation };
}

/** Which limit counts a request; null: none. A search or total reads more than a page. */
function kindOf(method: string, query: URLSearchParams): LimitedKind | null {
  if (method !== "GET" && method !== "HEAD") return "writes";
  const isCostly = query.has("q") || query.get("include")?.includes("total");
  return isCostly ? "costly-reads" : null;
}

/** An operation that needs a token, as OpenAPI describes it. */
export function describedOperation(
  tag: string,
  access: Access | undefined,
  operationId: string,
  summary: string,
  description?: string,
) {
  const sentences = [description, access?.sentence].filter((each) => each !== undefined);
  return {
    operationId,
    tags: [tag],
    security: [{ bearer: [] }],
    summary,
    ...(sentences.length > 0 && { description: sentences.join(" ") }),
  };
}
