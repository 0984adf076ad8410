import { defineTable } from "../db/table.ts";

import type { Flight } from "./flight.ts";

/** `flown` is derived, not stored: a confirmed booking whose flight has departed. */
export const bookingStatuses = ["confirmed", "cancelled", "flown", "held", "expired"] as const;
export type BookingStatus = (typeof bookingStatuses)[number];

/** Payment methods. Skyhook records the method but does not process payments. */
export const paymentMethods = ["card"] as const;
export type PaymentMethod = (typeof paymentMethods)[number];

/** A booking of one or more seats on one flight, by one user. */
export interface Booking {
  readonly id: `bk_${string}`;
  /** Six letters, easy to read out. */
  readonly reference: string;
  readonly userId: string;
  readonly flightId: Flight["id"];
  readonly status: Exclude<BookingStatus, "flown">;
  /** Seats sold, one per passenger. */
  readonly seats: number;
  /** In minor units of the currency. */
  readonly totalMinor: number;
  readonly currency: string;
  readonly contactEmail: string;
  readonly paymentMethod: PaymentMethod;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When a hold that is not paid releases its seats; null if the booking was never held. */
  readonly expiresAt: Date | null;
  /** Null while held, and if it was never confirmed. */
  readonly confirmedAt: Date | null;
  /** When the hold released its seats; null if it did not expire. */
  readonly expiredAt: Date | null;
  readonly cancelledAt: Date | null;
  /** The refund in minor units; null until cancelled. */
  readonly refundMinor: number | null;
  readonly refundPercent: number | null;
  readonly refundReason: string | null;
  /** What a payment event paid, in minor units: the total, or null. Null too if it was never held. */
  readonly paidMinor: number | null;
  /** What was refunded of it so far, in minor units. */
  readonly refundedMinor: number;
  /** Payment events recorded. Changes that depend on them require the number that was read. */
  readonly paymentCount: number;
}

/** The columns of a booking that nothing has happened to. */
export const emptyBooking = {
  expiresAt: null,
  expiredAt: null,
  cancelledAt: null,
  refundMinor: null,
  refundPercent: null,
  refundReason: null,
  paidMinor: null,
  refundedMinor: 0,
  paymentCount: 0,
};

export const bookingsTable = defineTable<Booking>("bookings", {
  id: "text",
  reference: "text",
  userId: "text",
  flightId: "integer",
  status: "text",
  seats: "integer",
  totalMinor: "bigint",
  currency: "text",
  contactEmail: "text",
  paymentMethod: "text",
  createdAt: "instant",
  updatedAt: "instant",
  cancelledAt: "instant or null",
  refundMinor: "bigint or null",
  refundPercent: "integer or null",
  refundReason: "text or null",
  expiresAt: "instant or null",
  confirmedAt: "instant or null",
  expiredAt: "instant or null",
  paidMinor: "bigint or null",
  refundedMinor: "bigint",
  paymentCount: "integer",
});

/** A passenger as stored, with the birth date and passport number encrypted. */
export interface Passenger {
  readonly bookingId: Booking["id"];
  /** From 1, in the order of the request. */
  readonly position: number;
  readonly firstName: string;
  readonly lastName: string;
  /**
   * The last name as `foldedName` returns it, for searches. Null where the database's `lower` returns the same; empty
   * until the server has folded it, for a booking of an earlier version.
   */
  readonly lastNameFolded: string | null;
  readonly email: string;
  /** Birth date and passport number, encrypted; see `personal-data.ts`. */
  readonly sealed: Uint8Array;
}

export const passengersTable = defineTable<Passenger>("passengers", {
  bookingId: "text",
  position: "integer",
  firstName: "text",
  lastName: "text",
  email: "text",
  sealed: "bytes",
  lastNameFolded: "text or null",
});

/** The content of a passenger's `sealed`, decrypted. */
export interface PersonalData {
  /** YYYY-MM-DD. */
  readonly dateOfBirth: string;
  readonly passportNumber: string;
}
