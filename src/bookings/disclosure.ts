import type { Booking } from "./booking.ts";

/** A record that somebody was shown the personal data of a booking. */
export interface Disclosure {
  readonly id: `dis_${string}`;
  readonly bookingId: Booking["id"];
  /** Who: the operating system's user, for the command line. */
  readonly actor: string;
  readonly reason: string;
  readonly createdAt: Date;
}
