import type { Clock } from "../../base/clock.ts";
import type { AppError } from "../../base/errors.ts";
import type { Log } from "../../telemetry/log.ts";

/** Of outages that are alike, one is logged in this time; the others are counted. */
const quietMs = 10_000;
/** Kinds of outage that are told apart at once; there are seldom so many. The rest count as one more. */
const maxKinds = 100;
const anyOther = "any other";

/** Told of each request that failed by our fault; its id is null where it is not known. */
export type ErrorLog = (failure: AppError, requestId: string | null) => void;

/** What is to be said of those that were not logged. */
interface Unsaid {
  readonly alike: number;
  readonly say: (alike: number) => void;
}

/**
 * Logs requests that failed by our fault. An outage makes every request fail in the same way: a line for
 * each would bury the cause, and on a full disk make it fuller. So of those alike the first is logged, and
 * then the last one of every ten seconds, with a count of the others.
 */
export function errorLog(log: Log, clock: Clock): ErrorLog {
  const kinds = new Map<string, Unsaid | null>();

  function listenTo(kind: string): void {
    kinds.set(kind, null);
    clock.after(quietMs, () => {
      const unsaid = kinds.get(kind);
      kinds.delete(kind);
      if (!unsaid) return;
      unsaid.say(unsaid.alike);
      listenTo(kind);
    });
  }

  return (failure, requestId) => {
    const { cause } = failure.extras;
    const why = cause instanceof Error ? `${failure.message}: ${cause.message}` : failure.message;
    const say = (alike: number) => {
      const entry = {
        err: cause,
        // What is undefined is left out.
        requestId: requestId ?? undefined,
        alike: alike > 0 ? alike : undefined,
      };
      // Without a cause nothing is broken: it starts or stops, lacks a secret, or has too much under way.
      if (failure.code === "unavailable" && cause === undefined) log.warn(entry, why);
      else log.error(entry, why);
    };
    if (failure.code !== "unavailable") return say(0);

    const kind = kinds.has(why) || kinds.size < maxKinds ? why : anyOther;
    const unsaid = kinds.get(kind);
    if (unsaid === undefined) {
      say(0);
      listenTo(kind);
      return;
    }
    kinds.set(kind, { alike: unsaid === null ? 0 : unsaid.alike + 1, say });
  };
}
