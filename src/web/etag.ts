/** The part of Elysia's `mapResponse` context that `withETag` uses. */
interface Answer {
  readonly request: Request;
  /** The value that the handler returned, or the `Response` for an error. */
  readonly responseValue: unknown;
}

/**
 * Adds an ETag to a JSON response, or returns 304 if the client already has it (RFC 9110 sections 8.8.3 and
 * 13.1.2).
 */
export function withETag({ request, responseValue }: Answer): Response | undefined {
  if (responseValue instanceof Response) return undefined;
  const body = JSON.stringify(responseValue);
  const etag = `"${Bun.hash(body).toString(36)}"`;
  const headers = { etag, "cache-control": "no-cache" };
  if (matchesETag(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } });
}

/** Whether `If-None-Match` lists the entity tag, by weak comparison (RFC 9110 section 13.1.2). */
export function matchesETag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const known = ifNoneMatch.split(",").map((item) => item.trim().replace(/^W\//, ""));
  return known.includes("*") || known.includes(etag);
}
