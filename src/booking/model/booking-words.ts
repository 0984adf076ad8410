/** The `provider` of events about bookings. */
export const bookingsProvider = "bookings";

/** `flown` is derived, not stored: a confirmed booking whose flight has departed. */
export const bookingStatuses = ["confirmed", "cancelled", "flown", "held", "expired"] as const;

/** What a list of bookings can be filtered by. A booking that was never held has no payment, but may have a refund due. */
export const paymentStates = ["unpaid", "paid", "refund-due", "problem"] as const;
