import { firstPositionAt } from "../../base/ids.ts";
import { ownTurns } from "../../base/own-turn.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { orderGroupsOf } from "../../outbound/model/deliveries.sql.ts";
import { unblockNext } from "../../outbound/model/delivery-order.sql.ts";

import {
  deleteAttemptsOf,
  deleteDeliveriesOf,
  deleteNotificationsOf,
  deleteSettledEvents,
  deleteWordsOf,
  eventsUntil,
  lockSettledEvents,
  settledEvents,
} from "./retention.sql.ts";

/** The positions, inclusive, between which retention has deleted events, except those that something still needs. */
export interface DeletedEvents {
  readonly first: number;
  readonly last: number;
}

/** Deletes what other rooms keep of deleted events. */
export type AlsoDelete = (events: DeletedEvents) => readonly Write<unknown>[];

/** Deletes events up to a time, with what belongs to them. */
export type DeleteEvents = (until: Date, now: number) => Promise<void>;

/** Calls `act` for the events after a position, up to another, in batches. Returns the last position. */
export type Walk = (
  from: number,
  until: number,
  batchSize: number,
  act: (positions: readonly number[]) => Promise<unknown>,
) => Promise<number>;

const ownTurn = ownTurns();

/** `isStopping`: whether to stop after the current batch. */
export function walkOf(storage: Storage, isStopping: () => boolean): Walk {
  return async (from, until, batchSize, act) => {
    let after = from;
    while (!isStopping()) {
      // Many events may be kept, for which nothing is written.
      await ownTurn();
      const found = await storage.all(eventsUntil, { after, until, limit: batchSize });
      const positions = found.map(({ position }) => position);
      if (found.length > 0) await act(positions);
      after = positions.at(-1) ?? after;
      if (found.length < batchSize) break;
    }
    return after;
  };
}

/** The last position of a time. */
export const lastPositionAt = (time: Date) => firstPositionAt(time.getTime() + 1) - 1;

/** Small batches, so that no delivery waits longer than a few milliseconds. */
export const batchSize = 100;

/** Deletes events one by one. */
export function deletingRows(storage: Storage, walk: Walk, alsoDelete: AlsoDelete): DeleteEvents {
  return async (until, now) => {
    await walk(0, lastPositionAt(until), batchSize, (positions) =>
      deleteSettled(storage, positions, now, alsoDelete),
    );
  };
}

/** Deletes those of the events that can be deleted, which are in the order of their positions. */
export async function deleteSettled(
  storage: Storage,
  found: readonly number[],
  now: number,
  alsoDelete: AlsoDelete,
): Promise<void> {
  const settled = await storage.all(settledEvents, { positions: found });
  if (settled.length === 0) return;
  const positions = settled.map(({ position }) => position);
  // Users' deliveries may still wait, for example while their destination is paused.
  const groups = await storage.all(orderGroupsOf, { events: positions });
  await storage.atomically(
    ...(storage.dialect === "postgres" ? [write(lockSettledEvents, { positions }, "stop")] : []),
    write(deleteSettledEvents, { positions }, "stop"),
    write(deleteAttemptsOf, { positions }),
    write(deleteDeliveriesOf, { positions }),
    write(deleteNotificationsOf, { positions }),
    write(deleteWordsOf, { positions }),
    ...alsoDelete({ first: found[0] ?? 0, last: found.at(-1) ?? 0 }),
    ...groups.flatMap((group) => unblockNext(group, new Date(now))),
  );
}
