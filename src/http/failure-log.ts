import type { Clock } from "../clock.ts";
import type { AppError } from "../errors.ts";
import type { Log } from "../log.ts";

/** Of outages that are alike, one is logged in this time; the others are counted. */
const quietMs = 10_000;
/** Kinds of outage that are told apart at once; there are never so many. */
const maxKinds = 100;

/** Told of each request that failed by our fault; its id is null where it is not known. */
export type FailureLog = (failure: AppError, requestId: string | null) => void;

/**
 * Logs requests that failed by our fault. An outage makes every request fail in the same way: a line for
 * each would bury the cause, and on a full disk make it fuller.
 */
export function failureLog(log: Log, clock: Clock): FailureLog {
  const kinds = new Map<string, { readonly loggedAtMs: number; alike: number }>();
  return (failure, requestId) => {
    const { cause } = failure.extras;
    const why = cause instanceof Error ? `${failure.message}: ${cause.message}` : failure.message;
    const entry = { ...(requestId !== null && { requestId }), err: cause };
    if (failure.code !== "unavailable") return log.error(entry, why);

    const nowMs = clock.now();
    const kind = kinds.get(why);
    if (kind !== undefined && Math.abs(nowMs - kind.loggedAtMs) < quietMs) {
      kind.alike += 1;
      return;
    }
    if (kinds.size >= maxKinds) kinds.clear();
    kinds.set(why, { loggedAtMs: nowMs, alike: 0 });
    log.error({ ...entry, ...(kind && kind.alike > 0 && { alike: kind.alike }) }, why);
  };
}
