import type { Context } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { write } from "../../db/statement.ts";
import { notErased } from "../../identity/users/erasures.ts";
import { changedMeanwhile, retryIfChanged } from "../../inbound/receive/effects.ts";
import { cancelNow } from "../bookings/cancellation.ts";
import { ownBooking, requireOpen } from "../bookings/own-booking.ts";
import { flightById } from "../flights/flights.sql.ts";
import type { BookingChange, BookingChangeView } from "../model/booking-change.ts";
import type { Booking } from "../model/booking.ts";
import { paymentsOf } from "../payments/payment-view.ts";
import { extendHold } from "../seats/seat-holds.sql.ts";

import { endingOf, makingOf } from "./change-making.ts";
import { type ChangeOffers, changeOffers, offerEnds, type OfferParts } from "./change-offers.ts";
import { changeView } from "./change-view.ts";
import { awaitPayment, changeById, isOpen } from "./changes.sql.ts";

/**
 * Changes of bookings, each offered first and made when the owner confirms the offer. All throw `booking-not-found`, and
 * `not-found` for a change that does not exist.
 */
export interface Changes extends ChangeOffers {
  read(ctx: Context, bookingId: string, changeId: string): Promise<BookingChangeView>;
  /**
   * Makes a change, or lets it wait for its payment. Idempotent. Throws `offer-ended`, `not-cancellable`.
   */
  confirm(ctx: Context, bookingId: string, changeId: string): Promise<BookingChangeView>;
  /** Ends an open offer. Idempotent. Throws `offer-ended` if the change was made. */
  withdraw(ctx: Context, bookingId: string, changeId: string): Promise<BookingChangeView>;
}

export function changes(parts: OfferParts): Changes {
  const { storage, clock, holdMs } = parts;

  const findOwn = (ctx: Context, id: string) => ownBooking(storage, ctx, id);
  const viewOf = (change: BookingChange) => changeView(storage, change);

  async function findChange({ id: bookingId }: Booking, id: string): Promise<BookingChange> {
    const [change] = isId("chg", id) ? await storage.all(changeById, { id, bookingId }) : [];
    if (change === undefined) throw new AppError("not-found", "The booking has no such change");
    return change;
  }

  return {
    ...changeOffers(parts),
    async read(ctx, bookingId, changeId) {
      return viewOf(await findChange(await findOwn(ctx, bookingId), changeId));
    },
    confirm: (ctx, bookingId, changeId) => retryIfChanged(() => confirm(ctx, bookingId, changeId)),
    withdraw: (ctx, bookingId, changeId) =>
      retryIfChanged(async () => {
        const change = await findChange(await findOwn(ctx, bookingId), changeId);
        if (change.status === "confirmed") throw offerEnded("The change was made");
        if (isOpen(change)) {
          const { writes, flightId } = endingOf(change, "withdrawn", new Date(clock.now()));
          await storage.atomically(...writes, notErased(ctx));
          if (flightId !== null) parts.seatsChanged(flightId);
        }
        return viewOf(await findChange(await findOwn(ctx, bookingId), changeId));
      }),
  };

  async function confirm(
    ctx: Context,
    bookingId: string,
    changeId: string,
  ): Promise<BookingChangeView> {
    const now = new Date(clock.now());
    const booking = await findOwn(ctx, bookingId);
    const change = await findChange(booking, changeId);
    if (change.status === "confirmed" || change.status === "pending") return viewOf(change);
    if (change.status !== "offered" || change.expiresAt <= now) {
      throw offerEnded(`The offer is ${change.status === "offered" ? "expired" : change.status}`);
    }
    if (booking.revision !== change.revision) throw offerEnded("The booking has changed since");
    requireOpen(booking, now);
    const newFlight =
      change.newFlightId === null
        ? null
        : ((await storage.all(flightById, { id: change.newFlightId }))[0] ?? null);
    if (change.kind === "cancellation" && change.seats === booking.seats) {
      // The last passengers leave: the booking is cancelled, with the refund that was offered.
      const { percent, reason } = change;
      const minor = Math.max(0, -change.changeTotalMinor);
      await cancelNow(parts, ctx, booking, { minor, percent, reason });
    } else if (change.changeTotalMinor > 0) {
      const expiresAt = offerEnds(booking.flight, newFlight, now, holdMs);
      const waiting = { ...change, updatedAt: now, expiresAt };
      await storage.atomically(
        write(awaitPayment, waiting, changedMeanwhile),
        write(extendHold, { bookingId: booking.id, purpose: "change", expiresAt }),
        notErased(ctx),
      );
      parts.held();
    } else {
      const payments = await paymentsOf(storage, booking);
      const caller = { actor: ctx.actor, paidMinor: 0, payments };
      const making = makingOf(parts, booking, change, newFlight, caller, now);
      await storage.atomically(...making.writes);
      parts.outbox.committed(making.event);
      parts.seatsChanged(booking.flightId);
    }
    return viewOf(await findChange(booking, changeId));
  }
}

function offerEnded(why: string): AppError {
  return new AppError("offer-ended", `${why}. Ask for a new offer.`);
}
