import type { CabinClass } from "../model/flight.ts";

import { flightParameters, type RawParameters } from "./flight-parameters.ts";

/** The most days of a calendar. */
export const maxCalendarDays = 62;

export interface Journey {
  /** IATA code, upper case. */
  readonly origin: string;
  /** IATA code, upper case. */
  readonly destination: string;
  readonly passengers: number;
  readonly cabinClass: CabinClass | null;
}

/**
 * These throw `invalid-parameter`, which names every invalid parameter. They return dates as YYYY-MM-DD: calendar days at
 * the airport of departure.
 */
export function readFlightSearch(raw: RawParameters) {
  const read = flightParameters(raw);
  const route = read.route();
  const departureDate = String(read.day("departureDate"));
  return read.done({ ...route, departureDate, ...read.party(), ...read.page() });
}

export function readCalendarSearch(raw: RawParameters) {
  const read = flightParameters(raw);
  const route = read.route();
  const [from, to] = [read.day("from"), read.day("to")];
  const days = from === null || to === null ? 1 : from.until(to).days + 1;
  if (days < 1) read.reject("to", "Must not be before from");
  if (days > maxCalendarDays) read.reject("to", `At most ${maxCalendarDays} days, with both ends`);
  const party = read.party();
  const length = Math.min(Math.max(0, days), maxCalendarDays);
  const dates = Array.from({ length }, (_, day) => String(from?.add({ days: day })));
  return read.done({ ...route, ...party, dates });
}
