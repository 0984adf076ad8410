import type { Clock } from "../../base/clock.ts";
import { type Context, requireOperator } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";
import { type BodyText, bodyText } from "../body-text.ts";
import { type Event, noReceipt } from "../event.ts";
import { highestSeverity, type Severity } from "../notification.ts";
import type { EventEntry, EventFeed } from "../notifications/channels/event-feed.ts";
import { notificationsOfEvent } from "../notifications/notifications.sql.ts";

import { type EventMatch, isAtLeast, matches } from "./event-match.ts";
import { type EventTimeline, receiptOf } from "./events.ts";
import { receiptById } from "./events.sql.ts";

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
  readonly match: EventMatch;
  /** Resumes after this position. Null: starts at `since`. */
  readonly afterSeq: number | null;
  /** Null: starts with new events. */
  readonly since: Date | null;
  /** Only webhooks, with receipt and body. Recorded in the audit list. */
  readonly withBody: boolean;
}

/** Follows all stored events, for operators. */
export interface EventStreams {
  /** The first item is the position where the stream starts. Throws `unavailable` if too many read bodies. */
  open(ctx: Context, options: StreamOptions): Promise<AsyncIterableIterator<StreamItem>>;
}

interface Parts {
  readonly storage: Storage;
  readonly eventFeed: EventFeed;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** A client that matches little still learns its position after so many other events. */
const positionInterval = 500;
/** Each may hold two of the largest bodies in memory. */
const maxBodyStreams = 32;

export function eventStreams({ storage, eventFeed, audit, clock }: Parts): EventStreams {
  let bodyStreams = 0;

  async function severityOf({ id: eventId }: Event): Promise<Severity | null> {
    return highestSeverity(await storage.all(notificationsOfEvent, { eventId }));
  }

  /** Null if the event does not match, or is not a webhook where bodies are wanted. */
  async function rendered(
    entry: EventEntry,
    { match, withBody }: StreamOptions,
  ): Promise<StreamedEvent | StreamedDelivery | null> {
    const { seq: _, ...event } = entry;
    if (!matches(event, match)) return null;
    const severity = await severityOf(event);
    if (!isAtLeast(severity, match.severity)) return null;
    if (!withBody) return { ...event, severity };
    const [stored = noReceipt] = await storage.all(receiptById, { id: event.id });
    const receipt = receiptOf(event, stored);
    return receipt === null ? null : { ...event, severity, receipt, ...bodyText(stored.body) };
  }

  async function* items(
    afterSeq: number,
    options: StreamOptions,
    signal: AbortSignal,
  ): AsyncGenerator<StreamItem, void> {
    yield { seq: afterSeq, event: null };
    let skipped = 0;
    for await (const entry of eventFeed.follow(afterSeq, signal)) {
      const event = await rendered(entry, options);
      skipped = event === null ? skipped + 1 : 0;
      if (event !== null || skipped % positionInterval === 0) yield { seq: entry.seq, event };
    }
  }

  async function opened(ctx: Context, options: StreamOptions, onEnd: () => void) {
    const { match, since, withBody } = options;
    // Read before the stream opens, so that the client misses nothing after it opens.
    const newest = await eventFeed.newestSeq();
    const first = since === null ? newest : await eventFeed.seqBefore(since);
    // A higher number comes from another database. Such a client starts with new events.
    const afterSeq = Math.min(options.afterSeq ?? first, newest);
    if (withBody) {
      const detail = `type ${match.type ?? "*"}, after ${afterSeq}`;
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
