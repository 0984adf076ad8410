import { moneyOf } from "../../base/money.ts";
import type { Storage } from "../../db/storage.ts";
import { shown } from "../../web/schema.ts";
import { flightView } from "../flights/flight-view.ts";
import { flightsByIds } from "../flights/flights.sql.ts";
import {
  type BookingChange,
  type BookingChangeView,
  changeFields,
} from "../model/booking-change.ts";
import type { Booking } from "../model/booking.ts";

import { changesOfBookings } from "./changes.sql.ts";

/** The most changes that a booking shows. */
const maxShown = 20;

/** The offers and changes of a booking, newest first. */
export async function changesShown(
  storage: Storage,
  { id, revision }: Booking,
): Promise<readonly BookingChangeView[]> {
  if (revision === 0) return [];
  return changeViews(storage, await storage.all(changesOfBookings, { ids: [id], limit: maxShown }));
}

export async function changeView(
  storage: Storage,
  change: BookingChange,
): Promise<BookingChangeView> {
  const [view] = await changeViews(storage, [change]);
  if (view === undefined) throw new Error(`Change ${change.id} has no view`);
  return view;
}

/** Renders changes with the flights as they are now. */
async function changeViews(
  storage: Storage,
  changes: readonly BookingChange[],
): Promise<readonly BookingChangeView[]> {
  const ids = changes.flatMap(({ flightId, newFlightId }) =>
    newFlightId === null ? [flightId] : [flightId, newFlightId],
  );
  const found = ids.length === 0 ? [] : await storage.all(flightsByIds, { ids });
  const flights = new Map(found.map((flight) => [flight.id, flightView(flight)]));
  const flightOf = (id: number) => {
    const flight = flights.get(id);
    if (flight === undefined) throw new Error(`Flight ${id} no longer exists`);
    return flight;
  };
  return changes.map((change) => {
    const money = (minor: number) => moneyOf(minor, change.currency).amount;
    return {
      ...shown(changeFields, change),
      flight: flightOf(change.flightId),
      newFlight: change.newFlightId === null ? null : flightOf(change.newFlightId),
      previousTotal: money(change.previousTotalMinor),
      newTotal: money(change.newTotalMinor),
      penalty: money(change.penaltyMinor),
      changeTotal: money(change.changeTotalMinor),
    };
  });
}
