import type { Storage } from "../../db/storage.ts";
import type { Booking } from "../booking.ts";
import type { FlightChange, FlightChangeNotice } from "../flight-change.ts";

import { type NoticeOfBooking, openNotice } from "./flight-change-notices.sql.ts";
import type { BookingFlightChange } from "./flight-change.schema.ts";

/**
 * The newest change of a booking's flight that its owner has not answered; null if there is none. While there is one,
 * the booking can be cancelled with a full refund, and changed free of charge.
 */
export async function openFlightChange(
  storage: Storage,
  bookingId: Booking["id"],
): Promise<FlightChangeNotice | null> {
  const [open] = await storage.all(openNotice, { bookingId });
  return open ?? null;
}

/** What a booking's owner sees of its notices, which are in order; null without any. */
export function flightChangeOf(notices: readonly NoticeOfBooking[]): BookingFlightChange | null {
  const newest = notices.at(-1);
  if (newest === undefined) return null;
  const firstOpen = notices.find(({ status }) => status === "unanswered");
  const { status, answeredAt, change: first } = firstOpen ?? newest;
  const { previousDepartureTime, previousArrivalTime, previousOrigin, previousDestination } = first;
  const before = { previousDepartureTime, previousArrivalTime };
  const from = { ...before, previousOrigin, previousDestination };
  return { ...changed(newest.change), ...from, status, answeredAt };
}

/** What everybody sees of a change. */
export function changed({
  id,
  type,
  previousDepartureTime,
  previousArrivalTime,
  previousOrigin,
  previousDestination,
  departureTime,
  arrivalTime,
  origin,
  destination,
  createdAt,
}: FlightChange) {
  const isCancelled = type === "flight.cancelled";
  return {
    id,
    type,
    previousDepartureTime,
    previousArrivalTime,
    previousOrigin,
    previousDestination,
    departureTime: isCancelled ? null : departureTime,
    arrivalTime: isCancelled ? null : arrivalTime,
    origin: isCancelled ? null : origin,
    destination: isCancelled ? null : destination,
    createdAt,
  };
}
