import {
  flightOf,
  type Model,
  type ModelBooking,
  type ModelFlight,
  type ModelUser,
  seatsLeft,
  seatsOf,
  statusOf,
} from "./model.ts";
import {
  type Currency,
  durationText,
  iso,
  localTime,
  majorUnits,
  masked,
  minuteMs,
  type Terms,
} from "./rules.ts";

/* What both doors should show of the model, field by field. */

export const userFields = "id: userId name email createdAt";
export const userView = ({ id, name, email, createdMs }: ModelUser) => ({
  id,
  name,
  email,
  createdAt: iso(createdMs),
});

export const flightFields = `id: flightId flightNumber airline origin destination departureTime
  arrivalTime duration durationMinutes departureLocal arrivalLocal cabinClass
  price { amount currency } seatsAvailable createdAt`;
export function flightView(model: Model, flight: ModelFlight) {
  const { id, flightNumber, airline, origin, destination, departureMs, arrivalMs } = flight;
  const durationMinutes = (arrivalMs - departureMs) / minuteMs;
  return {
    id,
    flightNumber,
    airline,
    origin,
    destination,
    departureTime: iso(departureMs),
    arrivalTime: iso(arrivalMs),
    duration: durationText(durationMinutes),
    durationMinutes,
    departureLocal: localTime(departureMs, origin),
    arrivalLocal: localTime(arrivalMs, destination),
    cabinClass: flight.cabinClass,
    price: { amount: majorUnits(flight.priceMinor, flight.currency), currency: flight.currency },
    seatsAvailable: seatsLeft(model, flight),
    createdAt: iso(flight.createdMs),
  };
}

export const createdFields =
  "bookingId status totalPrice currency confirmationSentTo createdAt reference";
/** The response to a booking, which never changes, even after a cancellation. */
export const createdView = (booking: ModelBooking) => ({
  bookingId: booking.id,
  status: "confirmed",
  totalPrice: majorUnits(booking.totalMinor, booking.currency),
  currency: booking.currency,
  confirmationSentTo: booking.input.contactEmail,
  createdAt: iso(booking.createdMs),
  reference: booking.reference,
});

const refundFields = "refund { amount currency percent fee method status reason }";
export const refundView = (
  { percent, amountMinor, feeMinor }: Terms,
  currency: Currency,
  reason: unknown,
) => ({
  amount: majorUnits(amountMinor, currency),
  currency,
  percent,
  fee: majorUnits(feeMinor, currency),
  method: "original_payment_method",
  status: amountMinor === 0 ? "none" : "pending",
  reason,
});

export const cancellationFields = `bookingId status cancelledAt ${refundFields}`;
export function cancellationView({ id, currency, cancellation }: ModelBooking) {
  if (cancellation === null) return null;
  const { atMs, terms, reason } = cancellation;
  const refund = refundView(terms, currency, reason);
  return { bookingId: id, status: "cancelled", cancelledAt: iso(atMs), refund };
}

/** The refund of a booking that was never held, by REST. */
export function progressView({ currency, cancellation }: ModelBooking) {
  if (cancellation === null || cancellation.terms.amountMinor === 0) return null;
  const amount = majorUnits(cancellation.terms.amountMinor, currency);
  return { amount, refunded: 0, currency, status: "pending" };
}

/** What the list shows to admins only. */
export function adminView(booking: ModelBooking) {
  const refund = progressView(booking);
  const [lead] = booking.input.passengers;
  return {
    payment: refund === null ? "at-booking" : "refund-due",
    ...(refund !== null && { refund }),
    leadPassenger: `${lead?.firstName} ${lead?.lastName}`,
  };
}

/** A booking in lists, by REST and GraphQL. */
export const bookingFields = `${createdFields} seats updatedAt flight { ${flightFields} }
  cancellation { ${cancellationFields} }`;
export const bookingView = (model: Model, booking: ModelBooking, nowMs: number) => ({
  ...createdView(booking),
  status: statusOf(model, booking, nowMs),
  seats: seatsOf(booking),
  updatedAt: iso(booking.cancellation?.atMs ?? booking.createdMs),
  flight: flightView(model, flightOf(model, booking.input.flightId)),
  cancellation: cancellationView(booking),
});

/** By REST only. */
export const flightChangeView = ({ flightChange }: ModelBooking) =>
  flightChange && { flightChange };

export const passengerFields = "passengers { firstName lastName email dateOfBirth passportNumber }";
export const passengersView = ({ input }: ModelBooking) =>
  input.passengers.map((passenger) => ({
    ...passenger,
    dateOfBirth: "****-**-**",
    passportNumber: masked(passenger.passportNumber),
  }));
