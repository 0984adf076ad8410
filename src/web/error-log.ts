import type { Clock } from "../base/clock.ts";
import type { AppError } from "../base/errors.ts";
import type { Log } from "../telemetry/log.ts";

/** Equal `unavailable` errors are logged once in this interval and otherwise counted. */
const quietMs = 10_000;
/** The most kinds of error to track at once. All further kinds share one entry. */
const maxKinds = 100;
const otherKinds = "other";

/** Logs a server error. `requestId` is null if it is unknown. */
export type ErrorLog = (error: AppError, requestId: string | null) => void;

/** The errors of one kind since its last log entry. */
interface Suppressed {
  readonly alike: number;
  /** Logs the latest of them. */
  readonly write: (alike: number) => void;
}

/**
 * Logs server errors. In an outage every request fails with the same `unavailable` error. A log entry for each
 * would bury the cause and fill a full disk further. So the first error of a kind is logged, and then the
 * latest one every ten seconds, with the number of equal errors before it.
 */
export function errorLog(log: Log, clock: Clock): ErrorLog {
  const kinds = new Map<string, Suppressed | null>();

  function suppress(kind: string): void {
    kinds.set(kind, null);
    clock.after(quietMs, () => {
      const suppressed = kinds.get(kind);
      kinds.delete(kind);
      if (!suppressed) return;
      suppressed.write(suppressed.alike);
      suppress(kind);
    });
  }

  return (error, requestId) => {
    const { cause } = error.extras;
    const message = cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
    const write = (alike: number) => {
      const entry = {
        err: cause,
        // The log omits undefined fields.
        requestId: requestId ?? undefined,
        alike: alike > 0 ? alike : undefined,
      };
      // Without a cause nothing is broken: the service starts, stops, lacks a secret or is overloaded.
      if (error.code === "unavailable" && cause === undefined) log.warn(entry, message);
      else log.error(entry, message);
    };
    if (error.code !== "unavailable") return write(0);

    const kind = kinds.has(message) || kinds.size < maxKinds ? message : otherKinds;
    const suppressed = kinds.get(kind);
    if (suppressed === undefined) {
      write(0);
      suppress(kind);
      return;
    }
    kinds.set(kind, { alike: suppressed === null ? 0 : suppressed.alike + 1, write });
  };
}
