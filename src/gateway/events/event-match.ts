import { severities, type Severity } from "../notification.ts";
import type { Event } from "../event.ts";

/** Which events a follower receives. Undefined: all. */
export interface EventMatch {
  readonly provider: string | undefined;
  /** A type, or the beginning of types followed by `*`: `deploy.*`. */
  readonly type: string | undefined;
  /** Events with a notification of this severity or a higher one. */
  readonly severity: Severity | undefined;
}

/** Whether an event matches, apart from its severity, which is not stored with it. */
export function matches(event: Pick<Event, "provider" | "type">, match: EventMatch): boolean {
  if (match.provider !== undefined && event.provider !== match.provider) return false;
  if (match.type === undefined) return true;
  return match.type.endsWith("*")
    ? event.type.startsWith(match.type.slice(0, -1))
    : event.type === match.type;
}

export function isAtLeast(severity: Severity | null, least: Severity | undefined): boolean {
  if (least === undefined) return true;
  return severity !== null && severities.indexOf(severity) >= severities.indexOf(least);
}
