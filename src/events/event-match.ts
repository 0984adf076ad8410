import type { Event, EventStatus } from "../event/event.ts";
import { severities } from "../event/message.ts";
import type { Severity } from "../event/message.ts";

/** Which events a follower receives. Undefined: all. */
export interface EventMatch {
  readonly provider: string | undefined;
  /** A type, or the beginning of types followed by `*`: `deploy.*`. */
  readonly type: string | undefined;
  readonly status: EventStatus | undefined;
  readonly subject: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Words of the title, actor, subject and data, as in the list of events. */
  readonly q: string | undefined;
  /** Events with a notification of this severity or a higher one. */
  readonly severity: Severity | undefined;
}

const exact = ["provider", "status", "subject", "idempotencyKey"] as const;

/** Whether an event matches, apart from its severity and its words, which are not stored with it. */
export function matches(event: Event, match: EventMatch): boolean {
  if (exact.some((name) => match[name] !== undefined && event[name] !== match[name])) return false;
  if (match.type === undefined) return true;
  return match.type.endsWith("*")
    ? event.type.startsWith(match.type.slice(0, -1))
    : event.type === match.type;
}

export function isAtLeast(severity: Severity | null, least: Severity | undefined): boolean {
  if (least === undefined) return true;
  return severity !== null && severities.indexOf(severity) >= severities.indexOf(least);
}
