import type { Clock } from "../../base/clock.ts";
import type { LoggedRequest } from "../model/webhook-request.ts";
import type { ApiAccess } from "../provider-api/provider-api.ts";

/**
 * The port to a provider's own log of its requests. To add a provider, write one file that exports a
 * `LogKind`, and list it in provider-logs.ts.
 */
export interface LogKind {
  readonly provider: string;
  /** How many days the provider keeps its log. */
  readonly keptDays: number;
  /** The variables that are needed, for messages: the token and, for some, what to read. */
  readonly variables: readonly string[];
  /** The permission that the token needs, for messages. */
  readonly permission: string;
  /** Opens the log. Sends nothing. Null if the settings do not say which one. */
  open(access: LogAccess, surroundings: Surroundings): ProviderLog | null;
}

export interface LogAccess extends ApiAccess {
  /** Which log, for example a hook of a repository. Null if not set, or not needed. */
  readonly source: string | null;
}

export interface Surroundings {
  readonly clock: Clock;
  /** Ends requests. */
  readonly signal: AbortSignal;
}

/** A provider's log, newest entries first. Methods throw an `ApiError`. */
export interface ProviderLog {
  /** The API's host. */
  readonly host: string;
  /**
   * Reads one page. `after`: where the page before it ended; null for the newest. `since`: older entries are not
   * needed, and may be left out.
   */
  page(after: string | null, since: Date): Promise<LogPage>;
}

interface LogPage {
  /** Only entries of events that the provider lists in Skyhook. */
  readonly entries: readonly LogEntry[];
  /** Where the next page begins. Null on the last page, or if the next has only entries before `since`. */
  readonly next: string | null;
}

export interface LogEntry {
  /** The delivery's id, as in its idempotency key. */
  readonly deliveryId: string;
  readonly type: string;
  readonly sentAt: Date;
  /** Whether the provider received a 2xx. Not proof that it came from Skyhook. */
  readonly isAcknowledged: boolean;
  /** Reads the headers and the body. Null if the log no longer has them. */
  read(): Promise<Pick<LoggedRequest, "headers" | "bodies"> | null>;
}
