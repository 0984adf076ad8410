import { AppError } from "../../base/errors.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import { eventsByKeys } from "../../event/events.sql.ts";
import { ApiError } from "../provider-api/api-error.ts";
import type { Provider } from "../providers/provider.ts";
import type { Recover } from "../receive/recover.ts";

import type { LogEntry, ProviderLog } from "./provider-log.ts";

/**
 * `recovered`: it was missing and is stored now. `stored`: it had arrived. `missing`: a dry run found it.
 * `unreadable`: the log no longer has it, or it cannot be an event. `failed`: the API did not return it.
 */
export type Outcome = "recovered" | "stored" | "missing" | "unreadable" | "failed";

/** How many listed requests had each outcome. */
export type Counts = Record<Outcome, number>;

export const noCounts = (): Counts => ({
  recovered: 0,
  stored: 0,
  missing: 0,
  unreadable: 0,
  failed: 0,
});

export const sumOf = (one: Counts, other: Counts): Counts => ({
  recovered: one.recovered + other.recovered,
  stored: one.stored + other.stored,
  missing: one.missing + other.missing,
  unreadable: one.unreadable + other.unreadable,
  failed: one.failed + other.failed,
});

/** Called with the outcome of each request. `why`: for `unreadable` and `failed`. */
export type Report = (entry: LogEntry, outcome: Outcome, why: string | null) => void;

interface Comparison {
  readonly storage: Storage;
  readonly recover: Recover;
  readonly provider: Provider;
  readonly log: ProviderLog;
  /** Older entries are not compared. */
  readonly from: Date;
  /** Where to begin; null for the newest entry. */
  readonly page: string | null;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly report: Report;
  /** Called after each page with the place of the next one, null after the last. */
  readonly onPage: (next: string | null) => Promise<void>;
}

/** Bounds a run whose API never ends its list. */
const maxPages = 10_000;
/** So many requests in a row that cannot be read mean that the API does not work. */
const maxFailuresInRow = 3;

/**
 * Compares a provider's log with the stored events, and recovers what is missing. Throws an `ApiError` if the
 * log cannot be read, or an `AppError` if an event cannot be stored.
 */
export async function compareLog(comparison: Comparison): Promise<void> {
  const { log, from, signal, report, onPage } = comparison;
  const seen = new Set<string>();
  let failures = 0;
  let { page } = comparison;
  for (let pages = 0; pages < maxPages; pages += 1) {
    signal.throwIfAborted();
    const { entries, next } = await log.page(page, from);
    // A redelivery has the id of the first one.
    const fresh = entries.filter(
      ({ deliveryId, sentAt }) => sentAt >= from && !seen.has(deliveryId),
    );
    for (const { deliveryId } of fresh) seen.add(deliveryId);
    // The oldest first, in the order in which they would have arrived.
    for (const one of (await known(comparison, fresh)).toReversed()) {
      signal.throwIfAborted();
      const { outcome, error } = await compared(comparison, one);
      failures = outcome === "failed" ? failures + 1 : 0;
      if (error !== null && failures >= maxFailuresInRow) throw error;
      report(one.entry, outcome, error?.message ?? null);
    }
    await onPage(next);
    if (next === null) return;
    page = next;
  }
  throw new ApiError(`The log of ${log.host} has more than ${maxPages} pages`, 200);
}

interface Known {
  readonly entry: LogEntry;
  /** The event that has its idempotency key. */
  readonly stored: Pick<Event, "recovered"> | undefined;
}

/** Each request once, with the event under its id. */
async function known(
  { storage, provider }: Comparison,
  entries: readonly LogEntry[],
): Promise<readonly Known[]> {
  const byId = new Map<string, LogEntry>();
  for (const entry of entries) {
    const other = byId.get(entry.deliveryId);
    if (other === undefined || entry.isAcknowledged) byId.set(entry.deliveryId, entry);
  }
  const keyOf = (id: string) => `${provider.id}:${id}`;
  const found = await storage.all(eventsByKeys, { keys: Array.from(byId.keys(), keyOf) });
  const byKey = new Map(found.map((event) => [event.idempotencyKey, event]));
  return Array.from(byId, ([id, entry]) => ({ entry, stored: byKey.get(keyOf(id)) }));
}

/**
 * Whether an event under the id of a request is that request. An unsigned id in use is no proof, because it
 * can be forged. Together with an acknowledgement it is, and so is an event from this log.
 */
function isProven(provider: Provider, entry: LogEntry, stored: Pick<Event, "recovered">): boolean {
  return provider.deliveryIdIsSigned || entry.isAcknowledged || stored.recovered;
}

interface Compared {
  readonly outcome: Outcome;
  readonly error: Error | null;
}

async function compared(
  { provider, recover, log, isDryRun }: Comparison,
  { entry, stored }: Known,
): Promise<Compared> {
  if (stored !== undefined && (isDryRun || isProven(provider, entry, stored))) {
    return { outcome: "stored", error: null };
  }
  if (isDryRun) return { outcome: "missing", error: null };
  try {
    const request = await entry.read();
    if (request === null) return unreadable("the log no longer has it");
    const answer = await recover({ ...request, providerId: provider.id, address: log.host });
    if (answer === null) return unreadable("its payload is not the event that the log names");
    return { outcome: answer.status === "duplicate" ? "stored" : "recovered", error: null };
  } catch (error) {
    if (error instanceof AppError && error.code === "body-too-large")
      return unreadable(error.detail);
    if (error instanceof ApiError && error.isTemporary) return { outcome: "failed", error };
    // Such as a payload too deep for JSON.stringify.
    if (error instanceof RangeError) return unreadable(error.message);
    throw error;
  }
}

function unreadable(why: string): Compared {
  return { outcome: "unreadable", error: new Error(why) };
}
