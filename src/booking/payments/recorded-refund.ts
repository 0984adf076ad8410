import { type Static, Type } from "@sinclair/typebox";

import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { decimalsOf, minorOf, moneyOf, moneyText } from "../../base/money.ts";
import { bodyReader, invalid } from "../../base/validation.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import { nameSchema } from "../../identity/users/fields.ts";
import { changedMeanwhile, retryIfChanged } from "../../inbound/receive/effects.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { bookingEventWrites, type EventMaking, ownEvent } from "../events/own-events.ts";
import { bookingsProvider } from "../model/booking-words.ts";
import type { Booking } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import type { Payment } from "../model/payment.ts";

import { countPayment, insertPayment, setRefunded } from "./payments.sql.ts";

/** The body of POST /v1/api/bookings/{id}/refund. */
export const refundRequestSchema = Type.Object(
  {
    amount: Type.Optional(
      Type.Number({
        minimum: 0,
        description:
          "What was refunded of the booking in all, in major units of its currency. Default: all that is due.",
        errorMessage: "A number of 0 or more",
        examples: [899.1],
      }),
    ),
    reason: Type.Optional(
      nameSchema(
        200,
        "the bank returned the transfer",
        "Why less was refunded than is recorded: required to lower the amount. Part of the booking's history. Do not write personal data here.",
      ),
    ),
    note: Type.Optional(
      nameSchema(
        200,
        "bank transfer 2026-117",
        "Part of the booking's history. Do not write personal data here.",
      ),
    ),
  },
  {
    $id: "RefundRequest",
    description: "A refund that was made.",
    examples: [{ note: "bank transfer 2026-117" }],
  },
);

export type RefundRequest = Static<typeof refundRequestSchema>;

/** Throws `invalid-body` for wrong types and `validation-failed` for broken rules. */
export const readRefundRequest = bodyReader(refundRequestSchema, "validation-failed");

export interface RefundParts extends EventMaking {
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly audit: Pick<Audit, "entry">;
  readonly clock: Clock;
}

/**
 * Records that a refund was made, as an admin says, or corrects what was recorded. The amount is the sum so far, so a
 * repeated request changes nothing. Throws `validation-failed` if it is more than what is due, or less than what is
 * recorded without a reason. `read` reads the booking.
 */
export function recordRefund(
  parts: RefundParts,
  ctx: Context,
  request: RefundRequest,
  read: () => Promise<BookingOnFlight>,
): Promise<void> {
  return retryIfChanged(async () => record(parts, ctx, await read(), request));
}

async function record(
  parts: RefundParts,
  ctx: Context,
  booking: BookingOnFlight,
  request: RefundRequest,
): Promise<void> {
  const { storage, outbox, audit, clock } = parts;
  const { id, currency } = booking;
  const refundedMinor = sumOf(booking, request);
  // As much was recorded before. The response must not precede that commit.
  if (refundedMinor === booking.refundedMinor) return storage.settled();
  const isLower = refundedMinor < booking.refundedMinor;
  const now = new Date(clock.now());
  const amount = moneyText(moneyOf(refundedMinor, currency));
  const before = moneyText(moneyOf(booking.refundedMinor, currency));
  const from = isLower ? `, corrected from ${before}` : "";
  const note = (request.reason ?? request.note)?.trim() ?? null;
  const input = [booking, amount, null, now, from] as const;
  const event = ownEvent("booking.refunded", input, ctx.actor, parts, now);
  const payment: Omit<Payment, "eventId"> = {
    bookingId: id,
    provider: bookingsProvider,
    reference: null,
    amountMinor: refundedMinor,
    currency,
    amount,
    outcome: isLower ? "corrected" : "refunded",
    createdAt: now,
    occurredAt: now,
    actor: ctx.actor.id,
    note,
    part: null,
  };
  await storage.atomically(
    // First, because what was read holds only if nothing changed since.
    write(countPayment, booking, changedMeanwhile),
    write(setRefunded, { id, refundedMinor, updatedAt: now }, changedMeanwhile),
    audit.entry(ctx, "booking.refunded", id, `${amount} in all${from}`),
    ...bookingEventWrites(outbox, event, booking.userId),
    () => [write(insertPayment, { ...payment, eventId: event.place.id })],
  );
  outbox.committed(event);
}

/** What is refunded in all then, in minor units. */
function sumOf(
  { currency, refundDueMinor, refundedMinor }: Booking,
  { amount, reason }: RefundRequest,
): number {
  const mostMinor = Math.max(refundDueMinor, refundedMinor);
  if (mostMinor === 0) throw invalid("/amount", "No refund of this booking is due");
  if (amount === undefined) return mostMinor;
  const minor = minorOf({ amount, currency });
  if (minor === null) {
    throw invalid(
      "/amount",
      `An amount in ${currency} has at most ${decimalsOf(currency)} decimals`,
    );
  }
  if (minor < refundedMinor && reason === undefined) {
    const recorded = moneyText(moneyOf(refundedMinor, currency));
    throw invalid("/reason", `${recorded} is recorded. To correct it to less, say why in "reason"`);
  }
  if (minor > mostMinor) {
    throw invalid("/amount", `Only ${moneyText(moneyOf(refundDueMinor, currency))} is due in all`);
  }
  return minor;
}
