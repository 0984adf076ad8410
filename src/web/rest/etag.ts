/** What Elysia knows of an answer when it is about to become bytes. */
interface Answer {
  readonly request: Request;
  /** A fitting value, or the answer to a failure. */
  readonly responseValue: unknown;
}

/**
 * Gives a JSON answer a validator, or answers 304 when the client has it already (RFC 9110 sections
 * 8.8.3 and 13.1.2).
 */
export function withETag({ request, responseValue }: Answer): Response | undefined {
  if (responseValue instanceof Response) return undefined;
  const body = JSON.stringify(responseValue);
  const etag = `"${Bun.hash(body).toString(36)}"`;
  const headers = { etag, "cache-control": "no-cache" };
  if (isKnown(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } });
}

/**
 * Whether `If-None-Match` names the entity tag that we would send, by weak comparison (RFC 9110 section
 * 13.1.2).
 */
export function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const known = ifNoneMatch.split(",").map((item) => item.trim().replace(/^W\//, ""));
  return known.includes("*") || known.includes(etag);
}
