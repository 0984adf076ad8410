import { calendarDate } from "../../base/calendar-date.ts";
import { AppError, type FieldError } from "../../base/errors.ts";
import { defaultLimit, maxLimit, maxOffsetRows } from "../../base/page.ts";
import { type CabinClass, cabinClasses, maxPassengers } from "../flight.ts";

/** A validated search. */
interface FlightSearch {
  /** IATA code, upper case. */
  readonly origin: string;
  /** IATA code, upper case. */
  readonly destination: string;
  /** YYYY-MM-DD: the calendar day at the origin. */
  readonly departureDate: string;
  readonly passengers: number;
  readonly cabinClass: CabinClass | null;
  readonly page: number;
  readonly limit: number;
}

/** A search before validation. Omitted parameters are undefined. */
export type RawFlightSearch = { readonly [Name in keyof FlightSearch]: unknown };

/** Validates a search. Throws `invalid-parameter`, which names every invalid parameter. */
export function readFlightSearch(raw: RawFlightSearch): FlightSearch {
  const errors: FieldError[] = [];
  const reject = (parameter: keyof FlightSearch, detail: string) => {
    errors.push({ parameter, code: "invalid-parameter", detail });
  };

  const airport = (name: "origin" | "destination"): string => {
    const value = raw[name];
    if (value === undefined) reject(name, "Required: an airport code of three letters");
    else if (typeof value !== "string" || !/^[A-Za-z]{3}$/.test(value)) {
      reject(name, "An airport code of three letters");
    } else return value.toUpperCase();
    return "";
  };
  const day = (): string => {
    const { departureDate } = raw;
    if (departureDate === undefined) reject("departureDate", "Required: a date as YYYY-MM-DD");
    else if (typeof departureDate !== "string" || calendarDate(departureDate) === null) {
      reject("departureDate", "A date that exists, as YYYY-MM-DD");
    } else return departureDate;
    return "";
  };
  const whole = (name: "passengers" | "page" | "limit", fallback: number, max: number): number => {
    const value = raw[name] ?? fallback;
    if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max)
      return value;
    const range = max === Number.MAX_SAFE_INTEGER ? "from 1 up" : `from 1 to ${max}`;
    reject(name, `A whole number ${range}`);
    return fallback;
  };
  const cabin = (): CabinClass | null => {
    const value = raw.cabinClass ?? null;
    const found = cabinClasses.find((candidate) => candidate === value);
    if (value !== null && found === undefined)
      reject("cabinClass", `One of: ${cabinClasses.join(", ")}`);
    return found ?? null;
  };

  const search: FlightSearch = {
    origin: airport("origin"),
    destination: airport("destination"),
    departureDate: day(),
    passengers: whole("passengers", 1, maxPassengers),
    cabinClass: cabin(),
    page: whole("page", 1, Number.MAX_SAFE_INTEGER),
    limit: Math.min(whole("limit", defaultLimit, Number.MAX_SAFE_INTEGER), maxLimit),
  };
  if (search.origin !== "" && search.origin === search.destination) {
    reject("destination", "Must differ from origin");
  }
  if (search.page * search.limit > maxOffsetRows) {
    reject("page", `page × limit must not exceed ${maxOffsetRows}`);
  }
  const [first] = errors;
  if (first === undefined) return search;
  const name = "parameter" in first ? first.parameter : "";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  throw new AppError("invalid-parameter", `${name}: ${first.detail}${more}`, { errors });
}
