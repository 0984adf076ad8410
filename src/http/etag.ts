/**
 * A JSON answer with a validator, or 304 when the client has it already (RFC 9110 sections 8.8.3 and
 * 13.1.2).
 */
export function withETag(request: Request, value: object): Response {
  const body = JSON.stringify(value);
  const etag = `"${Bun.hash(body).toString(36)}"`;
  const headers = { etag, "cache-control": "no-cache" };
  if (isKnown(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  return new Response(body, { headers: { ...headers, "content-type": "application/json" } });
}

function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const known = ifNoneMatch.split(",").map((item) => item.trim().replace(/^W\//, ""));
  return known.includes("*") || known.includes(etag);
}
