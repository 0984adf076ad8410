import { calendarDate } from "../../base/calendar-date.ts";
import type { CabinClass } from "../flight.ts";

import { flightParameters, type RawParameters } from "./flight-parameters.ts";

/** The most days of a calendar. */
export const maxCalendarDays = 62;
/** The most days before and after the date of a search. */
export const maxFlexibleDays = 7;
/** The flights of each day that are paired for trips. All pairs are sorted in one turn of the event loop. */
export const maxFlightsPerLeg = 50;

/** What passengers look for, on any day. */
export interface Journey {
  /** IATA code, upper case. */
  readonly origin: string;
  /** IATA code, upper case. */
  readonly destination: string;
  readonly passengers: number;
  readonly cabinClass: CabinClass | null;
}

export type TripSearch = ReturnType<typeof readTripSearch>;

/**
 * These throw `invalid-parameter`, which names every invalid parameter. They return dates as YYYY-MM-DD: calendar days at
 * the airport of departure. `dates` are the days of the calendar, none without one.
 */
export function readFlightSearch(raw: RawParameters) {
  const read = flightParameters(raw);
  const route = read.route();
  const date = read.day("departureDate");
  const [party, page] = [read.party(), read.page()];
  const flexible = read.whole("flexibleDays", 0, 0, maxFlexibleDays);
  const dates =
    date === null || flexible === 0
      ? []
      : datesFrom(date.subtract({ days: flexible }), 2 * flexible + 1);
  return read.done({ ...route, departureDate: String(date), ...party, ...page, dates });
}

export function readCalendarSearch(raw: RawParameters) {
  const read = flightParameters(raw);
  const route = read.route();
  const [from, to] = [read.day("from"), read.day("to")];
  const days = from === null || to === null ? 1 : from.until(to).days + 1;
  if (days < 1) read.reject("to", "Must not be before from");
  if (days > maxCalendarDays) read.reject("to", `At most ${maxCalendarDays} days, with both ends`);
  const party = read.party();
  const dates = from === null || days > maxCalendarDays ? [] : datesFrom(from, days);
  return read.done({ ...route, ...party, dates });
}

export function readTripSearch(raw: RawParameters) {
  const read = flightParameters(raw);
  const route = read.route();
  const [departure, back] = [read.day("departureDate"), read.day("returnDate")];
  if (departure !== null && back !== null && Temporal.PlainDate.compare(back, departure) < 0) {
    read.reject("returnDate", "Must not be before departureDate");
  }
  const dates = { departureDate: String(departure), returnDate: String(back) };
  return read.done({ ...route, ...dates, ...read.party(), ...read.page() });
}

/** Without days that YYYY-MM-DD cannot express, such as those before the year 0. */
function datesFrom(first: Temporal.PlainDate, days: number): string[] {
  return Array.from({ length: Math.max(0, days) }, (_, day) =>
    first.add({ days: day }).toString(),
  ).filter((date) => calendarDate(date) !== null);
}
