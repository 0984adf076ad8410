import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import { ownTurns } from "../../base/own-turn.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { decidedEffect, type Effect, type EffectOf } from "../../inbound/receive/effects.ts";
import { replaceEffect } from "../../inbound/receive/late-payments.sql.ts";
import type { Log } from "../../telemetry/log.ts";

import type { WaitingNotice } from "./waiting-notice.ts";
import {
  deleteWaitingNotice,
  endNotifying,
  noticesToNotify,
  waitingNoticesAfter,
  waitingNoticesOf,
} from "./waiting-notices.sql.ts";

/** The writes that notify operators of a payment that names no booking. */
export interface UnassignedNotification extends Pick<Effect, "committed"> {
  readonly writes: readonly Write<unknown>[];
}

interface Parts {
  readonly storage: Storage;
  readonly notifying: (waiting: WaitingNotice, now: Date) => UnassignedNotification;
  readonly effectOf: EffectOf;
  readonly clock: Clock;
  readonly log: Log;
}

/** The payment of a refund, as its provider names it. */
type PaymentName = Pick<WaitingNotice, "provider" | "reference">;

export interface WaitingNotices extends Pick<BackgroundTask, "start" | "stop"> {
  /** Call it after the commit of an event about a payment, or of a refund that waits for one. */
  committed(payment: PaymentName): void;
}

const batchSize = 200;
const ownTurn = ownTurns();
const intervalMs = 60_000;
const retryMs = 5_000;
/** Searches overlap by this much, because commits take time and the clocks of instances differ. */
const overlapMs = 120_000;

/**
 * Applies refunds that arrived before their payment. A refund and its payment that are committed at the same time do
 * not see each other, so both are checked again after their commits. An instance may end before that check. So the first
 * search after a start reads all waiting refunds, and a search each minute reads those stored since.
 */
export function waitingNotices(parts: Parts): WaitingNotices {
  const { storage, clock, log } = parts;
  const changed = new Map<string, PaymentName>();
  let searchedUntilMs = 0;
  let nextSearchMs = 0;

  async function settle(refund: WaitingNotice & { readonly isPaymentKnown: boolean }) {
    if (refund.isPaymentKnown) await settleRefund(parts, refund);
  }

  async function look(payment: PaymentName): Promise<void> {
    for (const refund of await storage.all(waitingNoticesOf, payment)) await settle(refund);
  }

  async function search(signal: AbortSignal): Promise<void> {
    const startedMs = clock.now();
    let position = { afterTime: new Date(Math.max(0, searchedUntilMs - overlapMs)), afterId: "" };
    while (!signal.aborted) {
      // Requests run in between.
      await ownTurn();
      const found = await storage.all(waitingNoticesAfter, { ...position, limit: batchSize });
      for (const refund of found) await settle(refund);
      const last = found.at(-1);
      if (last === undefined || found.length < batchSize) break;
      position = { afterTime: last.createdAt, afterId: last.eventId };
    }
    if (!signal.aborted) searchedUntilMs = startedMs;
  }

  const task = backgroundTask(clock, async (signal) => {
    try {
      for (const [key, payment] of changed) {
        // First, because what is committed while this reads has to be read again.
        changed.delete(key);
        await look(payment).catch((error: unknown) => {
          changed.set(key, payment);
          throw error;
        });
      }
      if (clock.now() >= nextSearchMs || clock.now() < searchedUntilMs) {
        await search(signal);
        nextSearchMs = clock.now() + intervalMs;
      }
      const nextMs = Math.min(nextSearchMs, await notifyDue(parts));
      return Math.max(1, nextMs - clock.now());
    } catch (error) {
      log.error({ err: error }, "failed to apply refunds that waited; retrying");
      return retryMs;
    }
  });

  return {
    start: () => task.start(),
    stop: () => task.stop(),
    committed(payment) {
      changed.set(JSON.stringify([payment.provider, payment.reference]), payment);
      task.wake();
    },
  };
}

/** Notifies operators of payments that still name no booking. Returns when the next one is due. */
async function notifyDue({ storage, clock, notifying }: Parts): Promise<number> {
  const now = new Date(clock.now());
  const waiting = await storage.all(noticesToNotify, { limit: batchSize });
  for (const notice of waiting) {
    const { eventId, notifyAt } = notice;
    if (notifyAt === null || notifyAt > now) return notifyAt?.getTime() ?? Number.POSITIVE_INFINITY;
    const { writes, committed } = notifying(notice, now);
    const [ended] = await storage.atomically(write(endNotifying, { eventId }, "stop"), ...writes);
    if (ended.changes > 0) committed();
  }
  return waiting.length < batchSize ? Number.POSITIVE_INFINITY : now.getTime();
}

/**
 * Gives a refund that waited its effect, once on all instances: only one deletes its row. `booking`: the booking that
 * its payment names, if that payment is not committed yet.
 */
export async function settleRefund(
  { storage, effectOf, log }: Pick<Parts, "storage" | "effectOf" | "log">,
  { eventId, provider, notice }: WaitingNotice,
  booking: string | null = null,
): Promise<void> {
  const done = await decidedEffect(
    () => effectOf({ ...notice, booking }),
    async (effect) => {
      if (effect === null) return false;
      const [deleted] = await storage.atomically(
        write(deleteWaitingNotice, { eventId }, "stop"),
        write(replaceEffect, { id: eventId, effect: effect.explanation }),
        ...effect.writes({ id: eventId }),
      );
      return deleted.changes > 0;
    },
  );
  if (done === null) return;
  log.info({ provider, id: eventId, ...done.effect?.logged }, "refund found its payment");
  done.effect?.committed();
}
