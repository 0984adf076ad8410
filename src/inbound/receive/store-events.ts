import { AppError } from "../../base/errors.ts";
import { positionIn } from "../../base/ids.ts";
import { ownTurns } from "../../base/own-turn.ts";
import { type Later, type Write, write, type WriteResult } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { countDuplicate, insertEvent } from "../../event/events.sql.ts";
import { viaHeader } from "../../event/via.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { deadAmong } from "../../outbound/model/deliveries.sql.ts";
import type { Destination } from "../../outbound/model/destination.ts";
import type { Log } from "../../telemetry/log.ts";
import { withTrace } from "../../telemetry/tracing/stored-trace.ts";
import { inSpan, type Tracer } from "../../telemetry/tracing/tracer.ts";
import type { Acknowledgement } from "../model/webhook-request.ts";
import { notificationsOf } from "../providers/interpret.ts";
import type { Interpreted, Provider } from "../providers/provider.ts";

import { changedMeanwhile, type Effect, type EffectOf, retryIfChanged } from "./effects.ts";
import type { FirstEvent } from "./first-event.ts";
import {
  type Candidate,
  candidatesOf,
  itemsPerTurn,
  type NewEvent,
  type Origin,
  type VerifiedBody,
} from "./new-event.ts";
import { type SortedEvents, sortEvents } from "./sorted-events.ts";

export interface StoreParts {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly effectOf: EffectOf;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
  readonly log: Log;
}

/**
 * A request with more writes than this is stored in several transactions, so that others do not wait long. If one of
 * them fails, the sender's retry stores the rest.
 */
const maxWritesPerTransaction = 4_000;

const ownTurn = ownTurns();
/** Events about one booking, of which only one can commit at a time, do not make each other decide again. */
const inTurn = turns();

/**
 * Commits the events of a request, each once: one, or one for each item; null for an unreadable body. The answer names
 * the first new event that is accepted, else the first new one, else the first that one duplicates. Throws
 * `invalid-body` for an unreadable body, once it is stored, and `unavailable`.
 */
export async function storeEvents(
  parts: StoreParts,
  provider: Provider,
  from: Origin,
  verified: VerifiedBody,
  interpreted: readonly Interpreted[] | null,
): Promise<Acknowledgement> {
  const [first, second] = interpreted ?? [];
  const payment = second === undefined ? (first?.payment ?? null) : null;
  const effectOf = async () => (payment === null ? null : parts.effectOf(payment));
  // Outside of the span: their deliveries belong to the request.
  const candidates = await candidatesOf(provider, from, verified, interpreted);
  const store = () => storeOnce(parts, provider, candidates, effectOf);
  return inSpan(parts.tracer, "webhook store", {}, () =>
    payment === null ? store() : inTurn(payment.booking ?? payment.payment ?? "", store),
  );
}

/** Most requests have one event, which is new: what is known of it is read only if it could not be stored. */
async function storeOnce(
  parts: StoreParts,
  provider: Provider,
  candidates: readonly Candidate[],
  effectOf: () => Promise<Effect | null>,
): Promise<Acknowledgement> {
  let isTried = candidates.length > 1;
  return retryIfChanged(async () => {
    const found = isTried
      ? await sortEvents(parts.storage, provider, candidates)
      : allNew(candidates);
    isTried = true;
    const effect = found.fresh.length === 0 ? null : await effectOf();
    await storeNew(parts, provider, found.fresh, effect);
    await countDuplicates(parts, candidates, found.duplicates.map(firstFrom));
    effect?.committed();
    return answer(parts, provider, candidates, found, effect);
  });
}

function allNew(candidates: readonly Candidate[]): SortedEvents {
  return { stored: [], fresh: candidates.map(({ event }) => event), duplicates: [] };
}

function firstFrom(same: FirstEvent | NewEvent): FirstEvent {
  return "place" in same ? { ...same, id: same.place.id } : same;
}

/**
 * Commits the events, with their effect and their notifications. Stores the body with the first event; the others refer
 * to it. Throws `changedMeanwhile` if a key or hash exists.
 */
async function storeNew(
  { storage, outbox }: StoreParts,
  provider: Provider,
  [holder, ...others]: readonly NewEvent[],
  effect: Effect | null,
): Promise<void> {
  if (holder === undefined) return;
  const via = holder.headers?.[viaHeader];
  const headers = withTrace(via === undefined ? {} : { [viaHeader]: via });
  const rest = { body: null, bodyOf: holder.place, headers };
  // A transaction that stops at a single event costs others less than one that fails.
  const onConflict = others.length === 0 ? "stop" : changedMeanwhile;
  let writes: (Write<unknown> | Later)[] = [];
  // Those that destinations receive, and one in any case: it wakes those who follow events.
  let events = [holder];
  const whole = new Set<Destination["id"]>();
  const commit = async () => {
    const results: readonly WriteResult<unknown>[] = await storage.atomically(...writes);
    if (results[0]?.changes === 0) throw changedMeanwhile;
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
    const stored = effect === null ? item : { ...item, effect: effect.explanation };
    writes.push(
      write(insertEvent, stored, onConflict),
      ...(effect === null ? [] : [() => effect.writes(item.place)]),
      ...notifications,
    );
    if (index > 0 && notifications.length > 0) events.push(item);
  }
  await commit();
}

/** Counts duplicates on their first events, and sends failed notifications again. */
async function countDuplicates(
  { storage, outbox }: StoreParts,
  [candidate]: readonly Candidate[],
  duplicates: readonly FirstEvent[],
): Promise<void> {
  // A provider's log lists what arrived too. That is not another request.
  if (duplicates.length === 0 || candidate?.event.recovered === true) return;
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
  [candidate]: readonly Candidate[],
  { stored, fresh, duplicates }: SortedEvents,
  effect: Effect | null,
): Acknowledgement {
  const all = [...stored, ...fresh];
  const accepted = all.filter(({ status }) => status === "accepted");
  const same = accepted[0] ?? all[0] ?? duplicates[0];
  // A request has an event.
  if (same === undefined) throw new AppError("internal", "The delivery has no items");
  const { id, type, idempotencyKey, status } = firstFrom(same);
  const isNew = all.length > 0;
  const isRecovered = candidate?.event.recovered === true;
  const counts = {
    accepted: accepted.length,
    ignored: all.length - accepted.length,
    duplicates: duplicates.length,
  };
  const isOne = all.length + duplicates.length === 1;
  const what = isRecovered ? "recovered" : status;
  // What a provider's log lists, and what arrived, is not another request.
  if (isNew || !isRecovered) {
    log.info(
      { provider: provider.id, type, id, idempotencyKey, ...(!isOne && counts), ...effect?.logged },
      `webhook ${isNew ? what : "duplicate"}`,
    );
  }
  if (status === "unreadable") {
    throw new AppError(
      "invalid-body",
      "The body is not a JSON object in UTF-8. It was stored for the operators.",
    );
  }
  return { status: isNew ? status : "duplicate", id, idempotencyKey, event: type };
}

/** Runs works with the same key one after the other. A failed one does not keep the next from running. */
type InTurn = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

function turns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    try {
      return await own;
    } finally {
      if (last.get(key) === own) last.delete(key);
    }
  };
}
