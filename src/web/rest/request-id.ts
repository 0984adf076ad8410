import type { MakeId } from "../../base/ids.ts";

const header = "x-request-id";

/** The headers of an answer under way, as Elysia keeps them. */
interface AnswerHeaders {
  [name: string]: string | number | undefined;
}

/** Gives an answer its request id: the client's own where it is fit to print, else a new one. */
export function assignRequestId(
  request: Request,
  answer: AnswerHeaders,
  makeId: MakeId,
  nowMs: number,
): void {
  const given = request.headers.get(header);
  const usable = given !== null && /^[A-Za-z0-9._-]{1,64}$/.test(given);
  answer[header] = usable ? given : makeId("req", nowMs);
}

/** The id that `assignRequestId` gave. */
export function requestIdOf(answer: AnswerHeaders): string {
  return String(answer[header] ?? "unknown");
}
