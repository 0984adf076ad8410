import { retryAfterMs } from "../../base/times.ts";

/** A request to a provider's API that did not succeed. The message says what happened, without the token. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    message: string,
    /** Null if there was no response. */
    readonly status: number | null,
    /** For a rate limit: when the next request may be sent, in milliseconds since the epoch. */
    readonly retryAtMs: number | null = null,
  ) {
    super(message);
  }

  /** Whether the same request may succeed soon: no response in time, or an error of the server. */
  get isTemporary(): boolean {
    return this.retryAtMs === null && (this.status === null || this.status >= 500);
  }
}

/** The pause after a rate limit without a time. GitHub asks for a minute at least. */
const usualPauseMs = 60_000;
/** A longer pause is an error of the API. GitHub's limits reset after an hour. */
const longestPauseMs = 6 * 3_600_000;

/**
 * When the next request may be sent after a response, in milliseconds since the epoch; null if at once. Reads
 * `Retry-After`, then `x-ratelimit-remaining` and `-reset`. GitHub answers 403 or 429 to both of its limits,
 * and to the secondary one without these headers but with a message.
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
export function pauseUntil(
  { status, headers }: Pick<Response, "status" | "headers">,
  message: string | null,
  nowMs: number,
): number | null {
  const isUsedUp = headers.get("x-ratelimit-remaining") === "0";
  const after = retryAfterMs(headers.get("retry-after"), nowMs);
  const isLimited =
    status === 429 ||
    (status === 403 && (isUsedUp || after !== null || /rate limit/i.test(message ?? "")));
  if (!isLimited && !(isUsedUp && status < 300)) return null;
  const reset = headers.get("x-ratelimit-reset") ?? "";
  const untilReset = isUsedUp && /^\d{1,12}$/.test(reset) ? Number(reset) * 1_000 - nowMs : null;
  const pauseMs = (isLimited ? after : null) ?? untilReset ?? (isLimited ? usualPauseMs : 0);
  return nowMs + Math.min(Math.max(pauseMs, 1_000), longestPauseMs);
}
