import { parseMinor } from "../../base/money.ts";
import { type CabinClass, cabinClasses, type FlightPlan } from "../flight.ts";

import { type Airport, airport } from "./airports.ts";
import { airlines, currencies, timetable } from "./timetable.ts";

/** Seats by cabin. A missing cabin is not for sale. */
type Aircraft = Readonly<Partial<Record<CabinClass, number>>>;

const narrowBodies: readonly Aircraft[] = [
  { economy: 144, business: 16 },
  { economy: 168, business: 12 },
];
const wideBodies: readonly Aircraft[] = [
  { economy: 195, business: 30, first: 6 },
  { economy: 216, business: 48, first: 8 },
  { economy: 252, business: 42, first: 14 },
];
/** Routes of this length or more use wide-body aircraft. */
const longHaulKm = 3_000;

const cruiseKmPerHour = 840;
/** The jet stream blows from west to east. */
const jetStreamKmPerHour = 60;
/** Taxiing at both ends, plus the extra time for climb and approach. */
const taxiAndClimbMinutes = 40;

const priceFactors: Readonly<Record<CabinClass, number>> = {
  economy: 1,
  business: 3.4,
  first: 6.2,
};

/**
 * Generates a fictional timetable between real airports: one plan per cabin of each departure from `from`
 * on, for `days` calendar days at the origin. A seed always yields the same flights for the same day,
 * regardless of `from`. Local departure times do not change when clocks change.
 */
export function* demoSchedule(from: Date, days: number, seed: number): Generator<FlightPlan> {
  const legs = timetable.map((leg) => legOf(leg, seed));
  const start = Temporal.Instant.fromEpochMilliseconds(from.getTime());
  for (let day = 0; day < days; day += 1) {
    for (const leg of legs) {
      const date = start.toZonedDateTimeISO(leg.origin.zone).toPlainDate().add({ days: day });
      if (!leg.weekdays.includes(String(date.dayOfWeek))) continue;
      const departure = date.toZonedDateTime({ timeZone: leg.origin.zone, plainTime: leg.departs });
      const departureTime = new Date(departure.epochMilliseconds);
      if (departureTime >= from) yield* cabinsOf(leg, date, departureTime, seed);
    }
  }
}

type Leg = ReturnType<typeof legOf>;

function legOf(
  [flightNumber, from, to, departs, weekdays]: (typeof timetable)[number],
  seed: number,
) {
  const origin = knownAirport(from);
  const destination = knownAirport(to);
  const distanceKm = greatCircleKm(origin, destination);
  const fleet = distanceKm < longHaulKm ? narrowBodies : wideBodies;
  return {
    flightNumber,
    airline: airlines[flightNumber.slice(0, 2)] ?? flightNumber,
    origin,
    destination,
    departs: Temporal.PlainTime.from(departs),
    weekdays,
    distanceKm,
    blockMinutes: blockMinutes(origin, destination, distanceKm),
    aircraft: fleet[Math.floor(chance(seed, flightNumber) * fleet.length)] ?? {},
  };
}

function knownAirport(code: string): Airport {
  const found = airport(code);
  if (found === undefined) throw new RangeError(`The timetable has an unknown airport: ${code}`);
  return found;
}

function* cabinsOf(
  leg: Leg,
  date: Temporal.PlainDate,
  departureTime: Date,
  seed: number,
): Generator<FlightPlan> {
  for (const cabinClass of cabinClasses) {
    const seats = leg.aircraft[cabinClass];
    if (seats === undefined) continue;
    yield {
      flightNumber: leg.flightNumber,
      airline: leg.airline,
      origin: leg.origin.iata,
      destination: leg.destination.iata,
      departureTime,
      arrivalTime: new Date(departureTime.getTime() + leg.blockMinutes * 60_000),
      cabinClass,
      seats,
      ...priceOf(leg, cabinClass, date, chance(seed, leg.flightNumber, String(date), cabinClass)),
    };
  }
}

/** The price of a seat: higher for longer distances and from Friday to Sunday, with random variation. */
function priceOf(
  { origin, distanceKm }: Leg,
  cabinClass: CabinClass,
  { dayOfWeek }: Temporal.PlainDate,
  variation: number,
): Pick<FlightPlan, "priceMinor" | "currency"> {
  const [currency, perDollar] = currencies[origin.country] ?? ["USD", 1];
  const base = (55 + 0.14 * distanceKm ** 0.92) * priceFactors[cabinClass];
  const demand = (dayOfWeek >= 5 ? 1.12 : 1) * (0.8 + 0.5 * variation);
  // Three significant digits look like a real price.
  const price = Number((base * demand * perDollar).toPrecision(3));
  return { priceMinor: parseMinor(price.toFixed(0), currency), currency };
}

/** The time from gate to gate, rounded to five minutes. */
function blockMinutes(origin: Airport, destination: Airport, distanceKm: number): number {
  const eastDegrees = ((destination.longitude - origin.longitude + 540) % 360) - 180;
  const middle = radians((origin.latitude + destination.latitude) / 2);
  // 1 for a flight due east, -1 for one due west.
  const eastward = (radians(eastDegrees) * Math.cos(middle) * earthRadiusKm) / distanceKm;
  const tailwind = jetStreamKmPerHour * Math.max(-1, Math.min(1, eastward));
  const minutes = (distanceKm / (cruiseKmPerHour + tailwind)) * 60 + taxiAndClimbMinutes;
  return Math.round(minutes / 5) * 5;
}

const earthRadiusKm = 6_371;

/** The distance, by the haversine formula. */
function greatCircleKm(one: Airport, other: Airport): number {
  const [latitude, otherLatitude] = [radians(one.latitude), radians(other.latitude)];
  const north = Math.sin((otherLatitude - latitude) / 2) ** 2;
  const east = Math.sin(radians(other.longitude - one.longitude) / 2) ** 2;
  const share = north + Math.cos(latitude) * Math.cos(otherLatitude) * east;
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(share));
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

/** A pseudo-random number from 0 to below 1, determined by the seed and the names. */
function chance(seed: number, ...names: readonly string[]): number {
  return Bun.hash.xxHash32(names.join(" "), seed) / 2 ** 32;
}
