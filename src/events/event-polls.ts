import { type Context, requireOperator } from "../base/context.ts";
import { foreignCursor } from "../base/cursor.ts";
import type { Storage } from "../db/storage.ts";
import { eventsAfter, oldestEventSeq } from "../event/event.sql.ts";
import { type Occurrence, occurrenceOf } from "../outbound/formats/mcp.ts";
import { notificationsOfEvents } from "../outbound/notifications.sql.ts";
import type { EventEntry, EventFeed } from "../outbound/notifications/event-feed.ts";
import type { SubscriptionKey } from "../outbound/subscriptions/subscription.ts";

/** The events to poll, as a subscription selects them. */
type PollMatch = Omit<SubscriptionKey, "subscriber" | "url">;

interface PollRequest {
  /** The cursor of the poll before. Null: begins at `since`. */
  readonly after: string | null;
  /** Null: begins with new events. */
  readonly since: Date | null;
  readonly limit: number;
}

interface PolledEvents {
  /** In the order of commits, one for each event. */
  readonly events: readonly Occurrence[];
  readonly cursor: string;
  /** Whether retention has deleted events after the cursor. */
  readonly truncated: boolean;
  /** Whether there are events that this poll did not look at. */
  readonly hasMore: boolean;
}

/** What agents that have no callback receive. For operators. */
export interface EventPolls {
  /** Throws `invalid-cursor`. */
  read(ctx: Context, match: PollMatch, request: PollRequest): Promise<PolledEvents>;
}

interface Parts {
  readonly storage: Storage;
  readonly eventFeed: Pick<EventFeed, "newestSeq" | "seqBefore">;
}

/** One poll reads no more than that, however little matches. */
const pageSize = 100;
const maxPages = 10;

export function eventPolls({ storage, eventFeed }: Parts): EventPolls {
  async function start({ after, since }: PollRequest, newest: number) {
    if (after === null) {
      const seq = since === null ? newest : await eventFeed.seqBefore(since);
      return { seq, truncated: false };
    }
    const seq = Number(after);
    if (!/^\d{1,16}$/.test(after) || !Number.isSafeInteger(seq)) throw foreignCursor();
    const [oldest] = await storage.all(oldestEventSeq, {});
    // Zero is the position before all events.
    const truncated = seq > 0 && (oldest?.seq ?? Number.POSITIVE_INFINITY) > seq;
    // A higher number than the newest comes from another database.
    return { seq: Math.min(seq, newest), truncated };
  }

  async function occurrencesOf(
    entries: readonly EventEntry[],
    { provider, type, subject, severity }: PollMatch,
  ): Promise<readonly { readonly seq: number; readonly occurrence: Occurrence }[]> {
    const found = entries.filter(
      (entry) =>
        entry.provider === provider &&
        entry.type === type &&
        (subject === null || entry.subject === subject),
    );
    if (found.length === 0) return [];
    const eventIds = found.map(({ id }) => id);
    const notifications = await storage.all(notificationsOfEvents, { eventIds });
    return found.flatMap(({ seq, ...event }) => {
      const notification = notifications.find(
        (each) =>
          each.eventId === event.id && (severity === null || severity.includes(each.severity)),
      );
      return notification === undefined
        ? []
        : [{ seq, occurrence: occurrenceOf({ notification, event }) }];
    });
  }

  return {
    async read(ctx, match, request) {
      requireOperator(ctx);
      const until = await eventFeed.newestSeq();
      const { seq: first, truncated } = await start(request, until);
      const events: Occurrence[] = [];
      let seq = first;
      for (let page = 0; page < maxPages; page += 1) {
        // Guarantee: the statement selects only rows with a number.
        const entries = (await storage.all(eventsAfter, {
          seq,
          until,
          limit: pageSize,
        })) as EventEntry[];
        for (const found of await occurrencesOf(entries, match)) {
          if (events.length === request.limit) {
            return { events, cursor: String(seq), truncated, hasMore: true };
          }
          events.push(found.occurrence);
          ({ seq } = found);
        }
        if (entries.length < pageSize) {
          return { events, cursor: String(until), truncated, hasMore: false };
        }
        seq = entries.at(-1)?.seq ?? seq;
      }
      return { events, cursor: String(seq), truncated, hasMore: true };
    },
  };
}
