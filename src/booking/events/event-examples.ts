import { exampleTimes } from "../../events/described-event.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";

const uuid = "019377b07d4070008000000000000001";
export const { createdAt: now } = exampleTimes;

export const flight: BookingOnFlight["flight"] = {
  id: 654,
  flightNumber: "N4103",
  airline: "Northwind",
  origin: "JFK",
  destination: "LHR",
  departureTime: new Date("2026-12-08T13:05:00Z"),
  arrivalTime: new Date("2026-12-08T20:10:00Z"),
  cabinClass: "economy",
  priceMinor: 49_950,
  currency: "USD",
  seats: 180,
  seatsAvailable: 178,
  oversold: 0,
  createdAt: now,
  cancelledAt: null,
  revision: 0,
  lastChange: null,
};
/** After the airline changed it. */
export const changedFlight = {
  ...flight,
  departureTime: new Date("2026-12-08T15:05:00Z"),
  arrivalTime: new Date("2026-12-08T22:10:00Z"),
  revision: 1,
};
export const flightChange = {
  changedAt: now.toISOString(),
  previousDepartureTime: "2026-12-08T13:05:00.000Z",
  previousArrivalTime: "2026-12-08T20:10:00.000Z",
  previousOrigin: "JFK",
  previousDestination: "LHR",
};

/** What events use of a booking. */
export const booking = {
  id: `bk_${uuid}`,
  reference: "KXPQZM",
  userId: uuid,
  status: "confirmed",
  seats: 2,
  totalMinor: 99_900,
  currency: "USD",
  chargedMinor: 0,
  refundDueMinor: 0,
  refundedMinor: 0,
  flight,
} as const;
export const paid = { ...booking, chargedMinor: 99_900 };
export const refunded = { ...paid, status: "cancelled", refundDueMinor: 99_900 } as const;

/** What events use of a change: it cancelled one of three passengers. */
export const change = {
  id: "chg_019377b07d4070008000000000000003",
  kind: "cancellation",
  seats: 1,
  currency: "USD",
  previousTotalMinor: 149_850,
  penaltyMinor: 4_995,
  changeTotalMinor: -44_955,
} as const;

export const notice = { provider: "payment_processor", payment: "pi_1", amount: "USD 999.00" };
export const payments = [
  { provider: "payment_processor", reference: "pi_1", outcome: "confirmed" },
] as const;
export const passenger = { position: 2, corrections: 0 };
export const eventId = "evt_019377b07d4070008000000000000002";
