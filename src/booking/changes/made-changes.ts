import { moneyOf, moneyText } from "../../base/money.ts";
import type { Storage } from "../../db/storage.ts";
import { changeTitle } from "../events/event-content.ts";
import { flightsByIds } from "../flights/flights.sql.ts";
import type { BookingChange } from "../model/booking-change.ts";
import type { Booking } from "../model/booking.ts";
import type { BookingOnFlight } from "../model/bookings.sql.ts";
import type { Flight } from "../model/flight.ts";

import { madeChanges } from "./changes.sql.ts";

/** A change that was made, with the flights before and after. */
interface MadeChange extends BookingChange {
  readonly flight: Flight;
  readonly newFlight: Flight;
}

/** The changes of a booking that were made, oldest first, without one that cancelled all of it. */
export async function changesMade(
  storage: Storage,
  { id, revision, seats, cancelledAt }: Booking,
): Promise<readonly MadeChange[]> {
  if (revision === 0) return [];
  const found = await storage.all(madeChanges, { bookingId: id });
  const isWhole = (change: BookingChange) =>
    change.kind === "cancellation" &&
    change.newTotalMinor === 0 &&
    change.seats === seats &&
    change.confirmedAt?.getTime() === cancelledAt?.getTime();
  const made = found.filter((change) => !isWhole(change));
  const ids = made.flatMap(({ flightId, newFlightId }) => [flightId, newFlightId ?? flightId]);
  const flights = ids.length === 0 ? [] : await storage.all(flightsByIds, { ids });
  return made.flatMap((change) => {
    const flight = flights.find((one) => one.id === change.flightId);
    const newFlight = flights.find((one) => one.id === (change.newFlightId ?? change.flightId));
    return flight === undefined || newFlight === undefined
      ? []
      : [{ ...change, flight, newFlight }];
  });
}

/** A booking with the price, the seats and the flight that it was made with. */
export function asSold(booking: BookingOnFlight, made: readonly MadeChange[]): BookingOnFlight {
  const [first] = made;
  if (first === undefined) return booking;
  const cancelled = made
    .filter(({ kind }) => kind === "cancellation")
    .reduce((sum, { seats }) => sum + seats, 0);
  return {
    ...booking,
    totalMinor: first.previousTotalMinor,
    seats: booking.seats + cancelled,
    flightId: first.flightId,
    flight: first.flight,
  };
}

/** `1 seat cancelled; USD 449.55 to refund`. */
export function madeTitle(change: MadeChange): string {
  const { changeTotalMinor: total, currency, flight, newFlight } = change;
  const money = moneyText(moneyOf(Math.abs(total), currency));
  const suffix = total === 0 ? "" : `; ${money} ${total < 0 ? "to refund" : "paid"}`;
  return `${changeTitle(change, flight, newFlight)}${suffix}`;
}
