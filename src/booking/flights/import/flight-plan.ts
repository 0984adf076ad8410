import { AppError, badRequest } from "../../../base/errors.ts";
import { isCurrency, parseMinor } from "../../../base/money.ts";
import { isName, nameRule } from "../../../base/name.ts";
import { isoTime } from "../../../base/times.ts";
import { flightNumberIn } from "../../model/flight-number.ts";
import { type CabinClass, cabinClasses, type FlightPlan } from "../../model/flight.ts";
import { airport } from "../airports.ts";

/** The fields of a flight plan: columns in CSV, keys in NDJSON. */
export const flightPlanKeys = [
  "flightNumber",
  "airline",
  "origin",
  "destination",
  "departureTime",
  "arrivalTime",
  "cabinClass",
  "seats",
  "price",
  "currency",
] as const;

/** The fields of a flight that changes, which a file may lack. */
export const flightChangeKeys = ["previousDepartureTime", "status"] as const;
type Key = (typeof flightPlanKeys)[number] | (typeof flightChangeKeys)[number];

const statuses = ["scheduled", "cancelled"] as const;

/** What a line does with a flight that exists, besides updating it. */
export interface PlannedChange {
  /** The flight departs at this time so far, and is moved to the times of its plan. */
  readonly previousDepartureTime?: Date;
  /** The flight is removed from sale. */
  readonly isCancelled?: true;
}

const maxAirlineLength = 60;
const maxSeats = 1_000;
const maxDurationHours = 24;

/**
 * Parses a flight plan. Each value is a string or a number. Throws `bad-request` for the first invalid field,
 * with its name and what is allowed. The error does not repeat the value.
 */
export function readFlightPlan(written: ReadonlyMap<string, unknown>): FlightPlan {
  const read = readerOf(written);
  const flightNumber = read("flightNumber", flightNumberOf);
  const airline = read("airline", airlineOf);
  const origin = read("origin", airportCodeOf);
  const destination = read("destination", (text) => otherThan(origin, airportCodeOf(text)));
  const departureTime = read("departureTime", timeOf);
  const arrivalTime = read("arrivalTime", (text) => soonAfter(departureTime, timeOf(text)));
  const cabinClass = read("cabinClass", cabinClassOf);
  const seats = read("seats", seatsOf);
  const currency = read("currency", currencyOf);
  const priceMinor = read("price", (text) => parseMinor(text, currency));
  return {
    flightNumber,
    airline,
    origin,
    destination,
    departureTime,
    arrivalTime,
    cabinClass,
    seats,
    priceMinor,
    currency,
  };
}

/** Reads the optional fields of a line; an empty one is absent. Throws as `readFlightPlan`. */
export function readPlannedChange(
  written: ReadonlyMap<string, unknown>,
  { departureTime }: FlightPlan,
): PlannedChange {
  const read = readerOf(written);
  const isGiven = (key: Key) => (written.get(key) ?? "") !== "";
  const previous = isGiven("previousDepartureTime") ? read("previousDepartureTime", timeOf) : null;
  const isCancelled = isGiven("status") && read("status", statusOf) === "cancelled";
  const isMoved = previous !== null && previous.getTime() !== departureTime.getTime();
  if (isCancelled && isMoved) {
    throw badRequest("status must not be cancelled for a flight that is moved");
  }
  return {
    ...(isMoved && { previousDepartureTime: previous }),
    ...(isCancelled && { isCancelled }),
  };
}

function readerOf(written: ReadonlyMap<string, unknown>) {
  return <Value>(key: Key, parse: (text: string) => Value): Value => {
    try {
      return parse(textOf(written.get(key)));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError(error.code, `${key} ${error.detail}`);
    }
  };
}

function textOf(value: unknown): string {
  const text = typeof value === "number" ? String(value) : (value ?? "");
  if (typeof text !== "string") throw badRequest("must be a string or a number");
  if (text.trim() === "") throw badRequest("is missing");
  return text.trim();
}

function flightNumberOf(text: string): string {
  const flightNumber = flightNumberIn(text);
  if (flightNumber !== null) return flightNumber;
  throw badRequest("must be an airline code and a number, such as BA117");
}

function airlineOf(text: string): string {
  if (!isName(text, maxAirlineLength)) throw badRequest(`must be ${nameRule(maxAirlineLength)}`);
  return text;
}

function airportCodeOf(text: string): string {
  const code = text.toUpperCase();
  if (!/^[A-Z]{3}$/.test(code)) throw badRequest("must be an airport code of three letters");
  if (airport(code) === undefined)
    throw badRequest(`is not a known airport: ${code}. Add it to AIRPORTS_FILE.`);
  return code;
}

function otherThan(origin: string, destination: string): string {
  if (destination === origin) throw badRequest("must differ from origin");
  return destination;
}

function timeOf(text: string): Date {
  const time = isoTime(text);
  if (time === null) {
    const lacksOffset = isoTime(`${text}Z`) !== null;
    if (lacksOffset) throw badRequest("has no UTC offset: append Z or an offset such as -05:00");
    throw badRequest("must be a time that exists, written like 2026-12-01T18:25:00-05:00");
  }
  const year = time.getUTCFullYear();
  if (year < 2_000 || year > 2_100) throw badRequest("must be in the years 2000 to 2100");
  return time;
}

function soonAfter(departure: Date, arrival: Date): Date {
  if (arrival <= departure) throw badRequest("must be after departureTime");
  if (arrival.getTime() - departure.getTime() > maxDurationHours * 3_600_000) {
    throw badRequest(`must be at most ${maxDurationHours} hours after departureTime`);
  }
  return arrival;
}

const cabinClassOf = (text: string): CabinClass => oneOf(cabinClasses, text);
const statusOf = (text: string) => oneOf(statuses, text);

function oneOf<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text.toLowerCase());
  if (found === undefined) throw badRequest(`must be one of: ${words.join(", ")}`);
  return found;
}

function seatsOf(text: string): number {
  const seats = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (seats < 1 || seats > maxSeats)
    throw badRequest(`must be a whole number from 1 to ${maxSeats}`);
  return seats;
}

function currencyOf(text: string): string {
  const code = text.toUpperCase();
  if (!isCurrency(code)) throw badRequest("must be an ISO 4217 currency such as USD");
  return code;
}
