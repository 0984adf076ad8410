import { Elysia } from "elysia";
import type { GraphQLSchema } from "graphql";

import type { Context } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { lazy } from "../../base/lazy.ts";
import { nextTurn } from "../../base/own-turn.ts";
import { prefersHtml } from "../accept.ts";
import type { Credentials, Exchange } from "../auth.ts";
import type { AddressOf, Connection, Limit } from "../client-address.ts";
import type { ErrorLog } from "../error-log.ts";
import { requestIdOf } from "../request-id.ts";

import type { Work } from "./context.ts";

interface GraphqlRoute {
  /** Called once, at the first request. */
  readonly schema: () => Promise<GraphQLSchema>;
  readonly credentials: Credentials;
  readonly logError: ErrorLog;
  /** Whether to serve the playground and to allow introspection. */
  readonly playground: boolean;
  readonly addressOf: AddressOf;
  readonly work: Work;
  readonly limit: Limit;
}

const path = "/graphql";
const packages = [
  () => import("graphql"),
  () => import("graphql-jit"),
  () => import("graphql-yoga"),
];

/** `/graphql` and its playground. The GraphQL packages are imported at the first request. */
export const graphqlRest = (options: GraphqlRoute) => {
  const handler = lazy(async () => {
    // In turns, because requests of other clients wait for each.
    for (const load of packages) {
      await nextTurn();
      await load();
    }
    await nextTurn();
    const schema = await options.schema();
    const { createHandler } = await import("./server.ts");
    const created = createHandler({ ...options, schema });
    await nextTurn();
    return created;
  });
  const playground = lazy(async () => (await import("./playground.ts")).playground());

  async function answer(exchange: Exchange & Connection): Promise<Response> {
    const { request, set } = exchange;
    if (options.playground && acceptsHtml(request)) return (await playground()).page(request);
    set.headers["cache-control"] = "no-store";
    // nginx must not buffer the events of a subscription.
    set.headers["x-accel-buffering"] = "no";
    const address = options.addressOf(exchange);
    const countWrite = (ctx: Context) => options.limit(ctx, "writes", set.headers);
    return (await handler())(request, { requestId: requestIdOf(set.headers), address, countWrite });
  }

  return new Elysia({ name: "graphql" })
    .all(path, answer, { parse: "none", detail: { hide: true } })
    .get(
      `${path}/playground/:file`,
      async ({ request, params }) => {
        const file = options.playground && (await playground()).file(request, params.file);
        if (file) return file;
        throw new AppError("not-found", "This path does not exist");
      },
      { detail: { hide: true } },
    );
};

/** Whether a browser navigates here; GraphQL clients ask for JSON. */
function acceptsHtml({ method, headers }: Request): boolean {
  return method === "GET" && prefersHtml(headers.get("accept"));
}
