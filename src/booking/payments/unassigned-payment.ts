import type { Clock } from "../../base/clock.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { insertEvent } from "../../event/events.sql.ts";
import type { PaymentNotice } from "../../inbound/model/payment-notice.ts";
import type { Effect } from "../../inbound/receive/effects.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { type EventMaking, ownEvent, ownNotification } from "../events/own-events.ts";
import { anyHeldSeats } from "../seats/seat-holds.sql.ts";

import { followsPayment } from "./payment-records.ts";
import type { WaitingNotice } from "./waiting-notice.ts";
import { insertWaitingNotice } from "./waiting-notices.sql.ts";
import type { UnassignedNotification, WaitingNotices } from "./waiting-notices.ts";

interface Parts {
  readonly waiting: Pick<WaitingNotices, "committed">;
  readonly storage: Storage;
  readonly clock: Clock;
}

/**
 * An event that names no booking. A refund waits for its payment. A payment, while bookings wait for theirs, waits for an
 * event that says whose it is: a Checkout session names the booking, and its payment intent, which may come first, does not.
 */
export async function unknownBooking(
  { storage, clock, waiting }: Parts,
  notice: PaymentNotice,
  named: string | null,
): Promise<Effect | null> {
  const { provider, payment, isForeign } = notice;
  const isPaid = notice.kind === "paid" && notice.amountMinor !== 0;
  const mayWait = !isForeign && (isPaid || (followsPayment(notice) && payment !== null));
  const isWaiting = mayWait && (!isPaid || (await storage.all(anyHeldSeats, {})).length > 0);
  if (named === null && !isWaiting) return null;
  const createdAt = new Date(clock.now());
  const notifyAt = isPaid ? new Date(clock.now() + unassignedMs) : null;
  /** Of the payment; without its id, that of the event. */
  let reference = payment ?? "";
  const unnamed = isPaid
    ? "yet: the payment names no booking"
    : `yet: waits for the payment ${reference} of a booking`;
  return {
    explanation:
      named === null ? `no effect ${unnamed}` : `no effect: there is no booking ${named}`,
    logged:
      named === null
        ? { effect: "waits" }
        : { effect: "no booking", referenceLength: named.length },
    writes({ id: eventId }) {
      reference = payment ?? eventId;
      const row = { eventId, provider, reference, notice, createdAt, notifyAt };
      return isWaiting ? [write(insertWaitingNotice, row)] : [];
    },
    committed() {
      if (isWaiting) waiting.committed({ provider, reference });
    },
  };
}

/** Notifies operators of a payment that names no booking, once: another event about it may have done so. */
export function unassignedNotification(
  { outbox, ...making }: EventMaking & { readonly outbox: Outbox },
  { notice, reference, eventId }: WaitingNotice,
  now: Date,
): UnassignedNotification {
  const input = [notice, reference, eventId] as const;
  const event = ownEvent("payment.unassigned", input, null, making, now);
  const notifications = outbox.writesFor(event, [ownNotification(event)]);
  return {
    writes: [write(insertEvent, event, "stop"), ...notifications],
    committed: () => outbox.committed(event),
  };
}

/** A payment whose booking no event has named by then is notified. Providers send events about one payment together. */
const unassignedMs = 10_000;
