import { lazy } from "../../base/lazy.ts";

import { methodsOf, type Route } from "./routes.ts";

/** Response headers that scripts of other origins may read, besides the safelisted ones. */
const exposed = [
  "Link",
  "X-Total-Count",
  "Location",
  "ETag",
  "X-Request-Id",
  "Idempotent-Replayed",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "Allow",
  "WWW-Authenticate",
].join(", ");
const requestHeaders =
  "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, X-Request-Id";
/** Two hours, the longest that any browser caches a preflight response. */
const maxAgeSeconds = 7_200;

/**
 * Cross-origin resource sharing (Fetch Standard, section 3.3), for the listed origins only. Credentials are
 * never allowed, because clients authenticate by bearer token, which browsers do not attach automatically.
 * Sets headers of the response; returns the complete response for a preflight request.
 * `routes` is called at the first one.
 */
export function cors(
  origins: readonly string[],
  routes: () => readonly Route[],
): (request: Request, headers: Record<string, string | number>) => Response | undefined {
  const allowed = new Set(origins);
  const methods = lazy(() => methodsOf(routes()).join(", "));
  return (request, headers) => {
    if (allowed.size === 0) return undefined;
    // Set on every response, also without an Origin header, so that caches do not serve it to other origins.
    headers["vary"] = "Origin";
    const origin = request.headers.get("origin");
    if (origin === null || !allowed.has(origin)) return undefined;
    headers["access-control-allow-origin"] = origin;
    const isPreflight =
      request.method === "OPTIONS" && request.headers.has("access-control-request-method");
    if (!isPreflight) {
      headers["access-control-expose-headers"] = exposed;
      return undefined;
    }
    headers["access-control-allow-methods"] = methods();
    headers["access-control-allow-headers"] = requestHeaders;
    headers["access-control-max-age"] = maxAgeSeconds;
    return new Response(null, { status: 204 });
  };
}
