import type { Clock } from "../base/clock.ts";
import type { AppError } from "../base/errors.ts";
import { alikeEntries } from "../telemetry/alike.ts";
import type { Log } from "../telemetry/log.ts";

/** Logs a server error. `requestId` is null if it is unknown. */
export type ErrorLog = (error: AppError, requestId: string | null) => void;

/** Logs server errors. In an outage every request fails with the same `unavailable` error. */
export function errorLog(log: Log, clock: Clock): ErrorLog {
  const unavailable = alikeEntries(clock);
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
    if (error.code === "unavailable") unavailable(message, write);
    else write(0);
  };
}
