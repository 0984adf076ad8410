import { AppError } from "../../base/errors.ts";
import { placeIn, positionIn } from "../../base/ids.ts";
import { ownTurns } from "../../base/own-turn.ts";
import { Place } from "../../db/place.ts";
import { type Write, write } from "../../db/statement.ts";
import { countDuplicate, firstsWithKeys, insertEvent } from "../../event/events.sql.ts";
import { viaHeader } from "../../event/via.ts";
import { deadAmong } from "../../outbound/deliveries.sql.ts";
import type { Destination } from "../../outbound/destination.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import { inSpan } from "../../telemetry/tracing/tracer.ts";
import { interpretedFields, notificationsOf } from "../providers/interpret.ts";
import type { Interpreted, Provider } from "../providers/provider.ts";
import type { Acknowledgement, WebhookRequest } from "../webhook-request.ts";

import { changedMeanwhile, maxAttempts } from "./effects.ts";
import { eventIdentity } from "./event-identity.ts";
import { type First, firstAlike } from "./first-event.ts";
import {
  acknowledge,
  eventOf,
  type NewEvent,
  type StoreParts,
  type VerifiedBody,
} from "./store-event.ts";

/**
 * A delivery with more writes than this is stored in several transactions, so that others do not wait long. If one of
 * them fails, the sender's retry stores the rest.
 */
const maxWritesPerTransaction = 4_000;
/** Items that are handled without a pause for other requests. */
const itemsPerTurn = 200;

const ownTurn = ownTurns();

/** An item, with the keys that it can be stored under. */
interface Candidate {
  readonly event: NewEvent;
  readonly keys: readonly string[];
}

/**
 * Commits the events of a delivery with several items, and finds those that its other items duplicate. The answer names
 * the first new event that is accepted, else the first new one, else the first of all. Throws `unavailable`.
 */
export function storeItems(
  parts: StoreParts,
  provider: Provider,
  from: Pick<WebhookRequest, "headers" | "address">,
  verified: VerifiedBody,
  items: readonly Interpreted[],
): Promise<Acknowledgement> {
  return inSpan(parts.tracer, "webhook store", {}, async () => {
    const candidates = await candidatesOf(provider, from, verified, items);
    for (let attempt = 1; ; attempt += 1) {
      const sorted = await sort(parts, candidates);
      try {
        await storeNew(parts, provider, sorted.fresh);
        await countDuplicates(parts, sorted.duplicates.map(firstFrom));
        return answer(parts, provider, sorted);
      } catch (error) {
        // Another request stored one of them meanwhile.
        if (error !== changedMeanwhile || attempt === maxAttempts) throw error;
      }
    }
  });
}

async function candidatesOf(
  provider: Provider,
  from: Pick<WebhookRequest, "headers" | "address">,
  verified: VerifiedBody,
  items: readonly Interpreted[],
): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  let first: NewEvent | null = null;
  for (const interpreted of items) {
    if (candidates.length % itemsPerTurn === itemsPerTurn - 1) await ownTurn();
    const identity = eventIdentity(provider, interpreted, verified);
    first ??= eventOf(provider, from, verified, interpreted, identity);
    const { createdAt } = first;
    const event: NewEvent = {
      ...first,
      ...interpretedFields(interpreted, first),
      place: new Place(createdAt.getTime()),
      bodyHash: identity.bodyHash,
      item: interpreted.item,
      items: items.length,
      notice: interpreted.notice ?? null,
    };
    candidates.push({ event, keys: identity.keys });
  }
  return candidates;
}

interface Sorted {
  /** Stored by an earlier attempt. */
  readonly stored: readonly NewEvent[];
  readonly fresh: readonly NewEvent[];
  readonly duplicates: readonly Same[];
}

/** What an item duplicates: a stored event, or one of the same delivery, which has no id before it is stored. */
type Same = First | NewEvent;

function firstFrom(same: Same): First {
  return "place" in same ? { ...same, id: same.place.id } : same;
}

/** Separates the items that are not stored yet, each under its first free key, from the others. Equal items are one. */
async function sort({ storage }: StoreParts, candidates: readonly Candidate[]): Promise<Sorted> {
  const keys = candidates.flatMap((candidate) => candidate.keys);
  const found = await storage.all(firstsWithKeys, { keys });
  const taken = new Map(found.map((event) => [event.idempotencyKey, event]));
  const fresh = new Map<string, NewEvent>();
  const byHash = new Map<string, NewEvent>();
  const stored: NewEvent[] = [];
  const duplicates: Same[] = [];
  let read = 0;

  async function first(event: NewEvent, hash: string | null): Promise<Same | undefined> {
    const { idempotencyKey } = event;
    if (hash === null) {
      const same = taken.get(idempotencyKey);
      return fresh.get(idempotencyKey) ?? (same?.bodyHash === null ? same : undefined);
    }
    const here = byHash.get(hash);
    if (here !== undefined) return here;
    read += 1;
    if (read % itemsPerTurn === 0) await ownTurn();
    return firstAlike(storage, event);
  }

  async function place({ event, keys: [...own] }: Candidate): Promise<void> {
    const hash = event.bodyHash === null ? null : Buffer.from(event.bodyHash).toString("base64");
    for (const idempotencyKey of own) {
      const candidate = { ...event, idempotencyKey };
      const same = await first(candidate, hash);
      if (same !== undefined && isStored(event, same)) return void stored.push(candidate);
      if (same !== undefined) return void duplicates.push(same);
      if (taken.has(idempotencyKey) || fresh.has(idempotencyKey)) continue;
      fresh.set(idempotencyKey, candidate);
      if (hash !== null) byHash.set(hash, candidate);
      return;
    }
    // Retention deleted the first event between two statements. The provider's retry is stored.
    throw new AppError("unavailable", "Try again", { retryAfterSeconds: 1 });
  }

  for (const candidate of candidates) await place(candidate);
  return { stored, fresh: [...fresh.values()], duplicates };
}

/** Whether an earlier attempt has stored it. */
function isStored({ place }: NewEvent, same: Same): boolean {
  return !("place" in same) && placeIn("evt", same.id)?.tail === place.tail;
}

/** Stores the body with the first event; the others refer to it. Throws `changedMeanwhile` if a key or hash exists. */
async function storeNew(
  { storage, outbox }: StoreParts,
  provider: Provider,
  [holder, ...others]: readonly NewEvent[],
): Promise<void> {
  if (holder === undefined) return;
  const via = holder.headers?.[viaHeader];
  const headers = withTrace(via === undefined ? {} : { [viaHeader]: via });
  const rest = { body: null, bodyOf: holder.place, headers };
  let writes: Write<unknown>[] = [];
  // Those that destinations receive, and one in any case: it wakes those who follow events.
  let events = [holder];
  const whole = new Set<Destination["id"]>();
  const commit = async () => {
    await storage.atomically(...writes);
    for (const event of events) outbox.committed(event);
    [writes, events] = [[], [holder]];
  };
  for (const [index, item] of [
    holder,
    ...others.map((other) => ({ ...other, ...rest })),
  ].entries()) {
    if (index % itemsPerTurn === itemsPerTurn - 1) await ownTurn();
    const notifications = outbox.writesFor(item, notificationsOf(provider, item, item.notice), {
      whole,
    });
    if (writes.length + notifications.length >= maxWritesPerTransaction) await commit();
    writes.push(write(insertEvent, item, changedMeanwhile), ...notifications);
    if (notifications.length > 0) events.push(item);
  }
  await commit();
}

/** Counts duplicates on their first events, and sends failed notifications again. */
async function countDuplicates(
  { storage, outbox }: StoreParts,
  duplicates: readonly First[],
): Promise<void> {
  if (duplicates.length === 0) return;
  const positions = [...new Set(duplicates.map(({ id }) => positionIn(id)))];
  const found = await storage.all(deadAmong, { events: positions });
  const dead = new Set(found.map(({ event }) => event));
  const rescheduled = duplicates.filter(({ id }) => dead.delete(positionIn(id)));
  const again: Write<unknown>[] = [];
  for (const first of rescheduled) again.push(...(await outbox.rescheduleFor(first, "dead")));
  await storage.atomically(...duplicates.map(({ id }) => write(countDuplicate, { id })), ...again);
  for (const first of rescheduled) outbox.committed(first);
}

function answer(
  { log }: StoreParts,
  provider: Provider,
  { stored, fresh, duplicates }: Sorted,
): Acknowledgement {
  const all = [...stored, ...fresh];
  const accepted = all.filter(({ status }) => status === "accepted");
  const same = accepted[0] ?? all[0] ?? duplicates[0];
  // A delivery without items is not stored here.
  if (same === undefined) throw new AppError("internal", "The delivery has no items");
  const named = firstFrom(same);
  const status = all.length === 0 ? "duplicate" : named.status;
  const { id, type, idempotencyKey } = named;
  const counts = {
    accepted: accepted.length,
    ignored: all.length - accepted.length,
    duplicates: duplicates.length,
  };
  log.info({ provider: provider.id, type, id, idempotencyKey, ...counts }, `webhook ${status}`);
  return acknowledge(status, named);
}
