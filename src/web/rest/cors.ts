/** Headers of answers that scripts of other origins may read, beside the few that they always may. */
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
const methods = "GET, HEAD, POST, DELETE";
const requestHeaders =
  "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-Request-Id";
/** Two hours, the most that any browser keeps a preflight's answer. */
const maxAgeSeconds = 7_200;

/**
 * What scripts of other origins may do (Fetch Standard, section 3.3): nothing, unless `origins` names
 * theirs. Credentials are never allowed: who asks is told by a bearer token, which no browser adds of
 * itself. Adds to the headers of the answer; returns the whole answer to a preflight.
 */
export function cors(
  origins: readonly string[],
): (request: Request, answer: Record<string, string | number>) => Response | undefined {
  const allowed = new Set(origins);
  return (request, answer) => {
    if (allowed.size === 0) return undefined;
    // On every answer, also to those that name no origin: a cache must not hand it to others.
    answer["vary"] = "Origin";
    const origin = request.headers.get("origin");
    if (origin === null || !allowed.has(origin)) return undefined;
    answer["access-control-allow-origin"] = origin;
    const isPreflight =
      request.method === "OPTIONS" && request.headers.has("access-control-request-method");
    if (!isPreflight) {
      answer["access-control-expose-headers"] = exposed;
      return undefined;
    }
    answer["access-control-allow-methods"] = methods;
    answer["access-control-allow-headers"] = requestHeaders;
    answer["access-control-max-age"] = maxAgeSeconds;
    return new Response(null, { status: 204 });
  };
}
