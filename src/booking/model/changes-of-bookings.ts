import type { Write } from "../../db/statement.ts";
import type { StoredEvent } from "../../event/event.ts";

import type { BookingChange, BookingChangeView } from "./booking-change.ts";
import type { Booking } from "./booking.ts";
import type { BookingOnFlight } from "./bookings.sql.ts";
import type { Flight } from "./flight.ts";

/** The hooks that bookings and payments call, so that they need not know how changes work. */
export interface ChangesOfBookings {
  /** The offers and changes that a booking shows, newest first. */
  shown(booking: Booking): Promise<readonly BookingChangeView[]>;
  history(booking: BookingOnFlight): Promise<ChangeHistory>;
  /** What a payment can pay of a booking besides its price. */
  payable(booking: BookingOnFlight): Promise<PayableChange>;
  /**
   * What ends the open offer of a booking that is cancelled; null without one. `isOffered`: the cancellation is what was
   * offered.
   */
  settled(booking: Booking, isOffered: boolean, now: Date): Promise<SettledChange | null>;
}

export interface ChangeHistory {
  /** The booking with the price, the seats and the flight that it was made with. */
  readonly sold: BookingOnFlight;
  /** The changes that were made, oldest first. */
  readonly made: readonly {
    readonly at: Date;
    readonly title: string;
    /** The idempotency key of the event about it. */
    readonly key: string;
    /** Whether it cost more, so that a payment made it. */
    readonly isPaid: boolean;
  }[];
}

export interface PayableChange {
  /** A confirmed change that waits for its payment; null if none does. */
  readonly pending: Pick<BookingChange, "changeTotalMinor" | "currency"> | null;
  /** Whether the amount was the price of an offer, which may have ended meanwhile. */
  isOfOffer(amountMinor: number | null): boolean;
  /** The transaction that makes the pending change once it is paid; null without one. */
  making(now: Date): Promise<ChangeTransaction | null>;
}

/** What makes a change, in one transaction. */
export interface ChangeTransaction {
  readonly writes: readonly Write<unknown>[];
  readonly event: StoredEvent;
}

/** What ends an open offer. */
export interface SettledChange {
  /** They throw `changedMeanwhile` if it has ended. */
  readonly writes: readonly Write<unknown>[];
  /** The flight whose seats are given back; null for an offer to cancel passengers. */
  readonly flightId: Flight["id"] | null;
}
