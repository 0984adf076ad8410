import { AppError, type FieldError } from "../../base/errors.ts";
import { defaultLimit, maxLimit, maxOffsetRows } from "../../base/page.ts";

import { type CabinClass, cabinClasses, maxPassengers } from "../flight.ts";

/** What to look for, checked. */
export interface FlightSearch {
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

/** What was asked, unchecked: undefined for what was left out. */
export type RawFlightSearch = { readonly [Name in keyof FlightSearch]: unknown };

/** Checks a search. Throws `invalid-parameter` that names every parameter at fault. */
export function readFlightSearch(raw: RawFlightSearch): FlightSearch {
  const errors: FieldError[] = [];
  const fault = (parameter: keyof FlightSearch, detail: string) => {
    errors.push({ parameter, code: "invalid-parameter", detail });
  };

  const airport = (name: "origin" | "destination"): string => {
    const value = raw[name];
    if (value === undefined) fault(name, "Required: an airport code of three letters");
    else if (typeof value !== "string" || !/^[A-Za-z]{3}$/.test(value)) {
      fault(name, "An airport code of three letters");
    } else return value.toUpperCase();
    return "";
  };
  const day = (): string => {
    const { departureDate } = raw;
    if (departureDate === undefined) fault("departureDate", "Required: a date as YYYY-MM-DD");
    else if (typeof departureDate !== "string" || !isDay(departureDate)) {
      fault("departureDate", "A date that exists, as YYYY-MM-DD");
    } else return departureDate;
    return "";
  };
  const whole = (
    name: "passengers" | "page" | "limit",
    otherwise: number,
    most: number,
  ): number => {
    const value = raw[name] ?? otherwise;
    if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most)
      return value;
    const range = most === Number.MAX_SAFE_INTEGER ? "from 1 up" : `from 1 to ${most}`;
    fault(name, `A whole number ${range}`);
    return otherwise;
  };
  const cabin = (): CabinClass | null => {
    const value = raw.cabinClass ?? null;
    const found = cabinClasses.find((candidate) => candidate === value);
    if (value !== null && found === undefined)
      fault("cabinClass", `One of: ${cabinClasses.join(", ")}`);
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
    fault("destination", "Must differ from origin");
  }
  if (search.page * search.limit > maxOffsetRows) {
    fault("page", `page × limit may go to ${maxOffsetRows}`);
  }
  const [first] = errors;
  if (first === undefined) return search;
  const name = "parameter" in first ? first.parameter : "";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  throw new AppError("invalid-parameter", `${name}: ${first.detail}${more}`, { errors });
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  try {
    Temporal.PlainDate.from(text, { overflow: "reject" });
    return true;
  } catch {
    return false;
  }
}
