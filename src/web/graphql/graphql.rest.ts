import { Elysia } from "elysia";

import { AppError } from "../../base/errors.ts";
import { clientAddress, type SocketAddresses } from "../rest/client-address.ts";
import type { Exchange } from "../rest/serve.ts";
import { requestIdOf } from "../rest/request-id.ts";
import { lazy } from "../../base/lazy.ts";

import type { GraphqlParts } from "./context.ts";

const path = "/graphql";

/** The same system through one typed schema. What it needs is loaded when it is first asked. */
export const graphqlRest = (parts: GraphqlParts) => {
  const handler = lazy(async () => (await import("./server.ts")).createHandler(parts));
  const playground = lazy(async () => (await import("./playground.ts")).playground());

  async function answer({ request, server, set }: GraphqlExchange): Promise<Response> {
    if (parts.playground && isForPeople(request)) return (await playground()).page(request);
    set.headers["cache-control"] = "no-store";
    // Proxies hand on a subscription's messages as they come.
    set.headers["x-accel-buffering"] = "no";
    const address = clientAddress(request, server, parts.trustedProxyHops);
    return (await handler())(request, { requestId: requestIdOf(set.headers), address });
  }

  return new Elysia({ name: "graphql" })
    .all(path, answer, { parse: "none", detail: { hide: true } })
    .get(
      `${path}/playground/:file`,
      async ({ request, params }) => {
        const file = parts.playground && (await playground()).file(request, params.file);
        if (file) return file;
        throw new AppError("not-found", "There is nothing at this address");
      },
      { detail: { hide: true } },
    );
};

interface GraphqlExchange extends Exchange {
  readonly server: SocketAddresses | null;
}

/** A browser's address bar asks for a page; programs ask for JSON. */
function isForPeople({ method, headers }: Request): boolean {
  return method === "GET" && (headers.get("accept") ?? "").includes("text/html");
}
