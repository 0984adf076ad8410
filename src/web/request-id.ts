import type { MakeId } from "../base/ids.ts";

const header = "x-request-id";

/** Elysia's mutable response headers. */
interface ResponseHeaders {
  [name: string]: string | number | undefined;
}

/** Sets the request id of a response: the client's if it is valid, otherwise a new one. */
export function assignRequestId(
  request: Request,
  headers: ResponseHeaders,
  makeId: MakeId,
  nowMs: number,
): void {
  const given = request.headers.get(header);
  const usable = given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given);
  headers[header] = usable ? given : makeId("req", nowMs);
}

/** The id that `assignRequestId` set. */
export function requestIdOf(headers: ResponseHeaders): string {
  return String(headers[header] ?? "unknown");
}
