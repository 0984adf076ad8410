/** The `provider` of events about bookings. */
export const bookingsProvider = "bookings";

/** `flown` is derived, not stored: a confirmed booking whose flight has departed. */
export const bookingStatuses = ["confirmed", "cancelled", "flown", "held", "expired"] as const;

/** How the payment of a booking stands: each has exactly one. */
export const paymentStates = ["unpaid", "paid", "at-booking", "refund-due", "refunded"] as const;
export const paymentStateTexts =
  "`unpaid`: made as a hold that no payment has confirmed. `paid`: a payment confirmed it. `at-booking`: made without a hold, so its payment is not reported. `refund-due`: not all that is due was refunded. `refunded`: cancelled, and all that is due was refunded.";
export type PaymentState = (typeof paymentStates)[number];
