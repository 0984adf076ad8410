import { defineTable, personal, type Stored } from "../../db/table.ts";
import {
  count,
  currencySchema,
  emailAddress,
  instant,
  prefixedId,
  text,
  word,
} from "../../web/schema.ts";

import type { bookingStatuses } from "./booking-words.ts";

export type BookingStatus = (typeof bookingStatuses)[number];

/** Payment methods. Skyhook records the method but does not process payments. */
export const paymentMethods = ["card"] as const;
export type PaymentMethod = (typeof paymentMethods)[number];

/** What lists and details of bookings show as it is stored. */
export const bookingFields = {
  id: prefixedId("bk_", "Equal to `bookingId`."),
  reference: personal("pseudonym", text("Six letters, easy to read out.", "KXQWZA")),
  userId: personal(
    "pseudonym",
    text("The id of the booking's owner.", "019377b0-7d40-7000-8000-000000000001"),
  ),
  seats: count("Seats sold, one per passenger.", 2),
  currency: personal("none", currencySchema),
  createdAt: instant("When the booking was made."),
  updatedAt: instant("When the booking last changed."),
};

/** What only the details of a booking show as it is stored. */
export const bookingDetailFields = {
  contactEmail: personal("identifies", emailAddress("The contact's e-mail address.")),
  paymentMethod: word(paymentMethods),
};

/** Bookings, each of one or more seats on one flight, by one user. */
export const bookingsTable = defineTable("bookings", {
  ...bookingFields,
  ...bookingDetailFields,
  flightId: "integer",
  /** The revision of the flight when it was booked, or the booking changed to it. */
  flightRevision: "integer",
  status: word(["confirmed", "cancelled", "held", "expired"]),
  /** In minor units of the currency. */
  totalMinor: "bigint",
  /** When a hold that is not paid releases its seats; null if the booking was never held. */
  expiresAt: "instant or null",
  /** Null while held, and if it was never confirmed. */
  confirmedAt: "instant or null",
  /** When the hold released its seats; null if it did not expire. */
  expiredAt: "instant or null",
  cancelledAt: "instant or null",
  /** The refund in minor units; null until cancelled. */
  refundMinor: "bigint or null",
  refundPercent: "integer or null",
  refundReason: "text or null: none",
  /**
   * What the booking was charged in all, in minor units: its price once it is confirmed, and what its changes cost. The
   * database checks that no other sum of money exceeds it.
   */
  chargedMinor: "bigint",
  /** What payment events paid of it, in minor units; null if none did. */
  paidMinor: "bigint or null",
  /** What is to be refunded in all, in minor units: of the cancellation, cancelled parts and changes. */
  refundDueMinor: "bigint",
  /** What was refunded so far, in minor units. */
  refundedMinor: "bigint",
  /** What a change made non-refundable, in minor units. */
  keptMinor: "bigint",
  /** Changes of the price, the seats or the flight. What is decided from them requires the number that was read. */
  revision: "integer",
  /** Payment events recorded. Changes that depend on them require the number that was read. */
  paymentCount: "integer",
});

export interface Booking extends Stored<typeof bookingsTable> {}

/** The columns of a booking that nothing has happened to, nor to its flight. */
export const emptyBooking = {
  flightRevision: 0,
  expiresAt: null,
  expiredAt: null,
  cancelledAt: null,
  refundMinor: null,
  refundPercent: null,
  refundReason: null,
  chargedMinor: 0,
  paidMinor: null,
  refundDueMinor: 0,
  refundedMinor: 0,
  keptMinor: 0,
  revision: 0,
  paymentCount: 0,
};

/** What is shown of a passenger as it is stored. */
export const passengerFields = {
  firstName: personal("identifies", text("Given name.", "Ada")),
  lastName: personal("identifies", text("Family name.", "Lovelace")),
  email: personal("identifies", emailAddress("E-mail address.")),
};

/** Passengers as stored, with the birth date and passport number encrypted. */
export const passengersTable = defineTable(
  "passengers",
  {
    bookingId: prefixedId("bk_"),
    /** From 1, in the order of the request. */
    position: "integer",
    ...passengerFields,
    /**
     * The last name as `foldedName` returns it, for searches. Null where the database's `lower` returns the same.
     */
    lastNameFolded: "text or null: identifies",
    /** Birth date and passport number, encrypted; see `personal-data.ts`. */
    sealed: "bytes: identifies",
    /** When the passenger was taken out of the booking; null for those who fly. */
    cancelledAt: "instant or null",
    /** How often the passenger was corrected. */
    corrections: "integer",
  },
  ["bookingId", "position"],
);

export interface Passenger extends Stored<typeof passengersTable> {}

/** The content of a passenger's `sealed`, decrypted. */
export interface PersonalData {
  /** YYYY-MM-DD. */
  readonly dateOfBirth: string;
  readonly passportNumber: string;
}
