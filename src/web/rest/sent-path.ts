import { AppError } from "../../base/errors.ts";
import { pathOf } from "../url.ts";

import type { Handle } from "./hardening.ts";
import { type Route, routeFinder } from "./routes.ts";

/** The requests whose path, as sent, is not that of the route that handles them. */
const detours = new WeakSet<Request>();

/**
 * Routes for Bun's own router, which matches paths as they were sent. `request.url` lacks the dot segments and backslashes by
 * which a request reaches a route past the rule of a proxy for its path.
 */
export function routesBySentPath(
  routes: readonly Route[],
  fetch: Handle,
): Readonly<Record<string, Handle>> {
  const routeOf = routeFinder(routes);
  const readable = new Set(routes.flatMap(({ method, path }) => (method === "GET" ? [path] : [])));
  const handledAs =
    (sent: string | null): Handle =>
    (request) => {
      // Without a valid Host (HTTP/1.0), Bun's URL is the path as sent, which Elysia misreads.
      if (request.url.startsWith("/")) {
        Object.defineProperty(request, "url", { value: `http://localhost${request.url}` });
      }
      // Bun leaves out the body. Elysia would read it for its length, and a feed has no end.
      if (request.method === "HEAD" && sent !== null && readable.has(sent)) {
        Object.defineProperty(request, "method", { value: "GET" });
      }
      if (routeOf(pathOf(request.url)) !== sent) detours.add(request);
      return fetch(request);
    };
  const byPath = routes.map(({ path }) => [path, handledAs(path)] as const);
  return { ...Object.fromEntries(byPath), "/*": handledAs(null) };
}

/** Throws `bad-request` for a path that reaches its route only without its dot segments or with its backslashes as slashes. */
export function requireSentPath(request: Request): void {
  if (!detours.has(request)) return;
  throw new AppError("bad-request", "The path must not have dot segments or backslashes");
}
