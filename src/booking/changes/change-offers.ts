import type { Context } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import { bodyReader, invalid } from "../../base/validation.ts";
import { write } from "../../db/statement.ts";
import { notErased } from "../../identity/users/erasures.ts";
import { changedMeanwhile, retryIfChanged } from "../../inbound/receive/effects.ts";
import { type CancellationParts, refundNow } from "../bookings/cancellation.ts";
import { ownBooking, refusePart, requireOpen } from "../bookings/own-booking.ts";
import { flightForSale } from "../bookings/sale.ts";
import { flightAt, takeSeats } from "../flights/flights.sql.ts";
import type { BookingChange, BookingChangeView } from "../model/booking-change.ts";
import { isFlightChanged } from "../model/booking-state.ts";
import type { Booking } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import { closesAfter, closesAt, type Flight } from "../model/flight.ts";
import { creditOf, type RefundNow, type RefundPolicy } from "../payments/refund.ts";
import { passengersOf } from "../personal-data/personal-data.sql.ts";
import { holdWrites } from "../seats/holding.ts";

import { endingOf } from "./change-making.ts";
import { cancellationTerms, type ChangeTerms, flightTerms, partMinor } from "./change-terms.ts";
import { changeView } from "./change-view.ts";
import { changeRequestSchema, partRequestSchema } from "./change.schema.ts";
import {
  changesOfBookings,
  insertChange,
  isOpen,
  maxOffers,
  reviseBooking,
} from "./changes.sql.ts";

/** Offers to change bookings. Both throw `booking-not-found`, and `change-pending` while a change waits for its payment. */
export interface ChangeOffers {
  /** Offers to cancel some of the passengers. Throws `not-cancellable`, `booking-closed`, `validation-failed`. */
  offerCancellation(ctx: Context, bookingId: string, body: unknown): Promise<BookingChangeView>;
  /**
   * Offers to move all passengers to another flight, and holds its seats. A booking has one open offer: a new one ends it. Throws
   * `not-cancellable`, `flight-not-found`, `booking-closed`, `no-seats`, `validation-failed`.
   */
  offerFlight(ctx: Context, bookingId: string, body: unknown): Promise<BookingChangeView>;
}

export interface OfferParts extends CancellationParts {
  readonly makeId: MakeId;
  /** What counts of the previous price when a booking changes the flight. */
  readonly changePolicy: RefundPolicy;
  /** How long an offer can be confirmed, and how long it then waits for its payment. */
  readonly holdMs: number;
  /** Called after an offer was made. */
  readonly held: () => void;
}

const readPart = bodyReader(partRequestSchema, "validation-failed");
const readChange = bodyReader(changeRequestSchema, "validation-failed");

export function changeOffers(parts: OfferParts): ChangeOffers {
  const { storage, clock, makeId, holdMs } = parts;
  const findOwn = (ctx: Context, id: string) => ownBooking(storage, ctx, id);

  /** Stores an offer in place of the open one. `rules`: what its terms follow from. */
  async function offer(
    ctx: Context,
    booking: BookingOnFlight,
    offered: Pick<BookingChange, "kind" | "passengers" | "seats"> & ChangeTerms,
    newFlight: Flight | null,
    rules: readonly RefundNow[],
    now: Date,
  ): Promise<BookingChangeView> {
    const { id: bookingId, userId, flightId, currency } = booking;
    const earlier = await storage.all(changesOfBookings, { ids: [bookingId], limit: maxOffers });
    if (earlier.length === maxOffers) {
      const detail = `A booking can have ${maxOffers} offers. Cancel it and book again.`;
      throw new AppError("validation-failed", detail);
    }
    const open = earlier.find(isOpen);
    // Its payment may be on the way.
    if (open?.status === "pending") throw changePending;
    const revision = booking.revision + 1;
    const change: BookingChange = {
      ...offered,
      id: makeId("chg", now.getTime()),
      bookingId,
      userId,
      status: "offered",
      revision,
      flightId,
      newFlightId: newFlight?.id ?? null,
      currency,
      createdAt: now,
      updatedAt: now,
      expiresAt: offerEnds(booking.flight, newFlight, now, holdMs, rules),
      confirmedAt: null,
    };
    const replaced = open === undefined ? null : endingOf(open, "withdrawn", now);
    const { seats } = offered;
    const hold = {
      bookingId,
      purpose: "change",
      flightId: newFlight?.id ?? flightId,
      seats: newFlight === null ? 0 : seats,
      userId,
      expiresAt: change.expiresAt,
    } as const;
    await storage.atomically(
      ...(replaced?.writes ?? []),
      // A cancellation that does not know this offer is decided again.
      write(reviseBooking, booking, changedMeanwhile),
      // Nor does an import that changes the flight: the terms depend on it.
      write(flightAt, booking.flight, changedMeanwhile),
      ...(newFlight === null
        ? []
        : [
            write(
              takeSeats,
              { ...newFlight, seats, closesAfter: closesAfter(now) },
              changedMeanwhile,
            ),
          ]),
      ...holdWrites(hold, "/flightId"),
      write(insertChange, change),
      notErased(ctx),
    );
    for (const held of [replaced?.flightId, newFlight?.id]) {
      if (held) parts.seatsChanged(held);
    }
    parts.held();
    return changeView(storage, change);
  }

  return {
    async offerCancellation(ctx, bookingId, body) {
      await findOwn(ctx, bookingId);
      const { passengers } = readPart(body);
      return retryIfChanged(async () => {
        const now = new Date(clock.now());
        const booking = await findOwn(ctx, bookingId);
        requireOpen(booking, now);
        await requireFlying(booking, passengers);
        const seats = passengers.length;
        const part = { ...booking, totalMinor: partMinor(booking, seats) };
        const refund = refundNow(parts.refundPolicy, part, now);
        const terms = cancellationTerms(booking, seats, refund);
        const offered = { kind: "cancellation", passengers, seats, ...terms } as const;
        return offer(ctx, booking, offered, null, [refund], now);
      });
    },
    async offerFlight(ctx, bookingId, body) {
      await findOwn(ctx, bookingId);
      refusePart(body);
      const { flightId } = readChange(body);
      return retryIfChanged(async () => {
        const now = new Date(clock.now());
        const booking = await findOwn(ctx, bookingId);
        requireOpen(booking, now);
        if (booking.status === "held") throw unpaidHold;
        const newFlight = await flightFor(booking, flightId, now);
        const refund = refundNow(parts.refundPolicy, booking, now);
        const credit = isFlightChanged(booking)
          ? refund
          : creditOf(parts.changePolicy, booking, booking.flight.departureTime, now);
        const { seats } = booking;
        const newTotal = newFlight.priceMinor * seats;
        const terms = flightTerms(booking, newTotal, credit, refund.minor);
        const passengers = await flying(booking);
        const offered = { kind: "flight", passengers, seats, ...terms } as const;
        return offer(ctx, booking, offered, newFlight, [refund, credit], now);
      });
    },
  };

  /** The positions of the passengers who fly. */
  async function flying({ id: bookingId }: Booking): Promise<number[]> {
    const passengers = await storage.all(passengersOf, { bookingId });
    return passengers
      .filter(({ cancelledAt }) => cancelledAt === null)
      .map(({ position }) => position);
  }

  async function requireFlying(booking: Booking, positions: readonly number[]): Promise<void> {
    const there = await flying(booking);
    const errors = positions.flatMap((position, index) =>
      there.includes(position)
        ? []
        : [
            {
              pointer: `/passengers/${index}`,
              code: "validation-failed",
              detail: `No passenger of this booking has position ${position}, or it is cancelled`,
            },
          ],
    );
    const [first] = errors;
    if (first !== undefined) throw new AppError("validation-failed", first.detail, { errors });
  }

  async function flightFor(booking: BookingOnFlight, flightId: number, now: Date): Promise<Flight> {
    const { currency, seats } = booking;
    if (flightId === booking.flightId) throw invalid("/flightId", "The booking is on this flight");
    const flight = await flightForSale(storage, flightId, seats, now);
    if (flight.currency === currency) return flight;
    throw invalid("/flightId", `Its price is in ${flight.currency}, the booking's in ${currency}`);
  }
}

/** An offer ends before sales of the new flight do, before the present flight departs, and with the rules of its terms. */
export function offerEnds(
  flight: Flight,
  newFlight: Flight | null,
  now: Date,
  holdMs: number,
  rules: readonly RefundNow[] = [],
): Date {
  const ends = [
    now.getTime() + holdMs,
    ...(flight.cancelledAt === null ? [flight.departureTime.getTime()] : []),
    ...(newFlight === null ? [] : [closesAt(newFlight.departureTime).getTime()]),
    ...rules.flatMap(({ until }) => until?.getTime() ?? []),
  ];
  return new Date(Math.min(...ends));
}

const changePending = new AppError(
  "change-pending",
  "A change of this booking waits for its payment. Withdraw it first.",
);

const unpaidHold = new AppError(
  "booking-closed",
  "The booking is not paid. Pay for it first, or cancel it and book the other flight.",
);
