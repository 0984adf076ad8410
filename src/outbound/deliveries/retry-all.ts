import type { Clock } from "../../base/clock.ts";
import { inOwnTurn } from "../../db/in-turn.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Event } from "../../event/event.ts";
import { reorder } from "../model/delivery-order.sql.ts";
import type { DeliveryKey, StoredDelivery } from "../model/delivery.ts";
import type { Destination } from "../model/destination.ts";

import { deadAfter, rescheduleDead, retryWaiting, waitingBefore } from "./retry-all.sql.ts";

/** What decides whether a delivery is sent again. */
export type Failed = Pick<StoredDelivery, "lastError"> & Pick<Event, "provider">;

interface Retry {
  readonly destinationId: Destination["id"];
  /** Which failed deliveries of the destination. */
  readonly which: (delivery: Failed) => boolean;
}

type Parts = Readonly<{ storage: Storage; clock: Clock }>;

/** The deliveries that are read, and changed, in one transaction. */
const batchSize = 100;
/** The latest time of a `Date`. */
const maxTimeMs = 8_640_000_000_000_000;

/**
 * Makes dead deliveries of a destination due now, oldest first. Returns how many. Reads each one once, so that it ends
 * although deliveries may die again meanwhile.
 */
export async function retryDeadOf(parts: Parts, { destinationId, which }: Retry): Promise<number> {
  let retried = 0;
  let place = { after: -1 };
  for (;;) {
    const from = { destinationId, limit: batchSize, ...place };
    const batch = await inOwnTurn(parts.storage, () => parts.storage.all(deadAfter, from));
    const dead = batch.filter(which);
    const now = new Date(parts.clock.now());
    retried += await retry(parts, rescheduleDead, dead, reorder(dead, now));
    const last = batch.at(-1);
    if (last === undefined || batch.length < batchSize) return retried;
    place = { after: last.notification };
  }
}

/**
 * Makes deliveries of a destination that failed and wait for their next attempt due now. Returns how many. Reads those
 * that are due last first: what fails again meanwhile is due later than before, so it is not read again.
 */
export async function retryWaitingOf(
  parts: Parts,
  { destinationId, which }: Retry,
): Promise<number> {
  let retried = 0;
  const from = { destinationId, limit: batchSize, now: new Date(parts.clock.now()) };
  let place = { before: new Date(maxTimeMs), beforeNotification: 0 };
  for (;;) {
    const values = { ...from, ...place };
    const batch = await inOwnTurn(parts.storage, () => parts.storage.all(waitingBefore, values));
    retried += await retry(parts, retryWaiting, batch.filter(which));
    const last = batch.at(-1);
    if (last === undefined || last.dueAt === null || batch.length < batchSize) return retried;
    place = { before: last.dueAt, beforeNotification: last.notification };
  }
}

async function retry(
  { storage, clock }: Parts,
  statement: typeof rescheduleDead,
  deliveries: readonly DeliveryKey[],
  ordering: readonly Write<never>[] = [],
): Promise<number> {
  if (deliveries.length === 0) return 0;
  const [result] = await storage.atomically(
    write(statement, { deliveries, now: new Date(clock.now()) }),
    ...ordering,
  );
  return result.changes;
}
