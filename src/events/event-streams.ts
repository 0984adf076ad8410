import type { Clock } from "../base/clock.ts";
import { type Context, requireOperator } from "../base/context.ts";
import { AppError } from "../base/errors.ts";
import { matchesFields } from "../base/filters.ts";
import { timeOfPosition } from "../base/ids.ts";
import { ownTurns } from "../base/own-turn.ts";
import { invalidParameter } from "../base/parameters.ts";
import { parseSearch } from "../base/search-terms.ts";
import type { Storage } from "../db/storage.ts";
import { type BodyText, bodyText } from "../event/body-text.ts";
import { eventsAfter } from "../event/event.sql.ts";
import type { Event } from "../event/event.ts";
import { bodySizeById } from "../event/events.sql.ts";
import { highestSeverity, isAtLeast, type Severity } from "../event/new-notification.ts";
import { storedReceipt } from "../event/receipts.ts";
import type { Audit } from "../identity/audit/audit.ts";
import { whileSignedIn } from "../identity/auth/while-signed-in.ts";
import type { CheckProvider } from "../inbound/providers/provider-filter.ts";
import { notificationsOfEvents } from "../outbound/model/notifications.sql.ts";
import type { EventEntry, EventFeed } from "../outbound/notifications/event-feed.ts";

import { type StreamFilters, streamFilters } from "./event-filters.ts";
import { eventsMatching, eventsWithWords } from "./event-search.ts";
import type { EventTimeline } from "./event.schema.ts";
import { receiptOf } from "./events.ts";
import type { SearchIndex } from "./search-index.ts";
import { maxUnreadBytes, streamBudget } from "./stream-budget.ts";

/** An event as streamed. */
export interface StreamedEvent extends Event {
  /** The highest severity of its notifications, null if it has none. */
  readonly severity: Severity | null;
}

/** A webhook with what was received. */
export interface StreamedDelivery extends StreamedEvent, BodyText {
  readonly receipt: NonNullable<EventTimeline["receipt"]>;
}

/** `event` null: only the position, because nothing matched for a while. */
export interface StreamItem {
  /** The position to resume after. */
  readonly seq: number;
  readonly event: StreamedEvent | StreamedDelivery | null;
}

export interface StreamOptions {
  /** Without `from`, starts with new events. */
  readonly match: StreamFilters;
  /** Resumes after this position. Null: starts at `from`. */
  readonly afterSeq: number | null;
  /** Only webhooks, with receipt and body. Recorded in the audit list. */
  readonly withBody: boolean;
  /** Called when the client does not read a large body for which others wait. It should be disconnected. */
  readonly onOverdue: () => void;
}

/** Follows all stored events, for operators. */
export interface EventStreams {
  /**
   * The first item is the position where the stream starts. Throws `unavailable` if too many read bodies, or if the
   * next events are not indexed for a search, and `invalid-parameter` for words that cannot be searched and
   * an unknown provider.
   */
  open(ctx: Context, options: StreamOptions): Promise<AsyncIterableIterator<StreamItem>>;
}

interface Parts {
  readonly storage: Storage;
  readonly eventFeed: EventFeed;
  readonly index: Pick<SearchIndex, "has">;
  readonly checkProvider: CheckProvider;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly maxUnreadBytes?: number;
}

/** A client that matches little still learns its position after so many other events. */
const positionInterval = 500;
const maxBodyStreams = 32;
const maxSentDeliveries = 100;
/** How many events after the start must be indexed before a stream with words opens, and how long it waits for them. */
const firstEvents = 100;
const patienceMs = 2_000;
/** While the search index is being built. */
const retryAfterSeconds = 10;

export function eventStreams(parts: Parts): EventStreams {
  const { storage, eventFeed, index, checkProvider, audit, clock } = parts;
  let bodyStreams = 0;
  const budget = streamBudget(parts.maxUnreadBytes ?? maxUnreadBytes, clock);
  const ownTurn = ownTurns();

  async function severityOf(position: number): Promise<Severity | null> {
    return highestSeverity(await storage.all(notificationsOfEvents, { events: [position] }));
  }

  /** The ids of the entries that match all filters except the severity. */
  async function matching(
    entries: readonly EventEntry[],
    match: StreamFilters,
    isOver: () => boolean,
  ): Promise<ReadonlySet<Event["id"]>> {
    const candidates = entries.filter((entry) => matchesFields(streamFilters, entry, match));
    const ids = candidates.map(({ id }) => id);
    if (match.q === undefined || ids.length === 0) return new Set(ids);
    // Events are indexed after their commit. Until then, their words are not known.
    await index.has(entries.at(-1)?.seq ?? 0, () => !isOver());
    return eventsWithWords(storage, match.q, candidates);
  }

  /** Returns null if the event is less severe, or is no webhook although bodies were requested. */
  async function rendered(
    entry: EventEntry,
    { match, withBody }: StreamOptions,
  ): Promise<StreamedEvent | StreamedDelivery | null> {
    const { seq, ...event } = entry;
    const severity = await severityOf(seq);
    if (!isAtLeast(severity, match.severity)) return null;
    if (!withBody) return { ...event, severity };
    const stored = await storedReceipt(storage, seq);
    const receipt = receiptOf(event, stored);
    return receipt === null ? null : { ...event, severity, receipt, ...bodyText(stored.body) };
  }

  /** Waits until a body of this size may be read. Returns what to call when the client has read it. */
  async function roomFor(
    bodyBytes: number,
    signal: AbortSignal,
    onOverdue: () => void,
  ): Promise<() => void> {
    const free = await budget.reserve(bodyBytes, signal, onOverdue);
    // Making the message of a large body blocks the event loop for a while.
    if (!signal.aborted) await ownTurn();
    return free;
  }

  async function* items(
    afterSeq: number,
    options: StreamOptions,
    signal: AbortSignal,
  ): AsyncGenerator<StreamItem, void> {
    yield { seq: afterSeq, event: null };
    const isOver = () => signal.aborted || eventFeed.isClosed();
    /** The positions of the events that hold the bodies of the latest deliveries: one with several items is sent once. */
    const sent = new Set<number>();
    let skipped = 0;
    for await (const entries of eventFeed.pages(afterSeq, signal)) {
      const found = await matching(entries, options.match, isOver);
      for (const entry of entries) {
        if (isOver()) return;
        const isMatch = found.has(entry.id);
        const [body] =
          isMatch && options.withBody ? await storage.all(bodySizeById, { id: entry.id }) : [];
        const holder = body?.bodyOf ?? entry.seq;
        const isRepeat = isMatch && sent.has(holder);
        const isFound = isMatch && !isRepeat;
        const free =
          isFound && body !== undefined
            ? await roomFor(body.bodyBytes, signal, options.onOverdue)
            : () => {};
        try {
          if (isOver()) return;
          const event = isFound ? await rendered(entry, options) : null;
          if (event !== null && options.withBody) {
            if (sent.size === maxSentDeliveries) sent.clear();
            sent.add(holder);
          }
          skipped = event === null ? skipped + 1 : 0;
          // Continues when the client has read the message. After a repeat, the client does not resume before it.
          if (event !== null || isRepeat || skipped % positionInterval === 0)
            yield { seq: entry.seq, event };
        } finally {
          free();
        }
      }
    }
  }

  /** So that a stream that can find nothing, or not for long, says why instead of staying silent. */
  async function checkSearch(q: string, seq: number, until: number): Promise<void> {
    if (parseSearch(q).length === 0)
      throw invalidParameter("q", "Must contain a letter or a digit");
    await eventsMatching(storage, { q });
    const next = await storage.all(eventsAfter, { seq, until, limit: firstEvents });
    const last = next.at(-1)?.seq ?? 0;
    const deadline = performance.now() + patienceMs;
    if (!(await index.has(last, () => performance.now() < deadline))) throw notIndexed();
  }

  async function opened(ctx: Context, options: StreamOptions, onEnd: () => void) {
    const { match, withBody } = options;
    await checkProvider(match.provider);
    // Read before the stream opens, so that the client misses nothing after it opens.
    const newest = await eventFeed.newestSeq();
    const { from } = match;
    const first = from === undefined ? newest : await eventFeed.seqBefore(from);
    const afterSeq =
      options.afterSeq === null ? first : await eventFeed.resumeAfter(options.afterSeq);
    if (match.q !== undefined) await checkSearch(match.q, afterSeq, newest);
    if (withBody) {
      const { provider: _, from: __, type = "*", ...others } = match;
      const received = `received after ${timeOfPosition(afterSeq).toISOString()}`;
      const detail = `${shown({ type, ...others })}, ${received}`;
      await storage.atomically(
        audit.entry(ctx, "events.streamed", match.provider ?? "all providers", detail),
      );
    }
    return whileSignedIn(ctx, clock, (signal) => items(afterSeq, options, signal), onEnd);
  }

  return {
    async open(ctx, options) {
      requireOperator(ctx);
      if (!options.withBody) return opened(ctx, options, () => {});
      if (bodyStreams >= maxBodyStreams) {
        throw new AppError("unavailable", "Too many clients read bodies. Try again later.", {
          retryAfterSeconds: 10,
        });
      }
      // Counted at once: others may connect before this stream is open.
      bodyStreams += 1;
      let isOpen = true;
      const onEnd = () => {
        if (isOpen) bodyStreams -= 1;
        isOpen = false;
      };
      try {
        return await opened(ctx, options, onEnd);
      } catch (error) {
        onEnd();
        throw error;
      }
    },
  };
}

function notIndexed(): AppError {
  return new AppError(
    "unavailable",
    "The search index is being built, so events would be missed. Try again later, or without q.",
    { retryAfterSeconds },
  );
}

/** The filters that are set. */
function shown(filters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${name} ${value}`).join(", ");
}
