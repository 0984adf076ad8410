import { AppError, type FieldError } from "../../base/errors.ts";
import { defaultLimit, maxLimit, maxOffsetRows } from "../../base/page.ts";
import { calendarDate } from "../../base/times.ts";
import { type CabinClass, cabinClasses, maxPassengers } from "../model/flight.ts";

/** Parameters before validation, by name. In a query string, numbers are text. */
export type RawParameters = Readonly<Record<string, unknown>>;

/** Reads the parameters of one request. Call `done` last: until then, an invalid one has a stand-in. */
export function flightParameters(raw: RawParameters) {
  const errors: FieldError[] = [];
  const reject = (parameter: string, detail: string) => {
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
  const day = (name: string): Temporal.PlainDate | null => {
    const value = raw[name];
    const found = typeof value === "string" ? calendarDate(value) : null;
    if (value === undefined) reject(name, "Required: a date as YYYY-MM-DD");
    else if (found === null) reject(name, "A date that exists, as YYYY-MM-DD");
    return found;
  };
  const whole = (name: string, fallback: number, min: number, max: number): number => {
    const value = numberIn(raw[name] ?? fallback);
    if (value !== null && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
    reject(name, `A whole number ${range}`);
    return fallback;
  };
  const cabin = (): CabinClass | null => {
    const value = raw["cabinClass"] ?? null;
    const found = cabinClasses.find((candidate) => candidate === value);
    if (value !== null && found === undefined)
      reject("cabinClass", `One of: ${cabinClasses.join(", ")}`);
    return found ?? null;
  };

  return {
    reject,
    day,
    route: () => ({ origin: airport("origin"), destination: airport("destination") }),
    party: () => ({ passengers: whole("passengers", 1, 1, maxPassengers), cabinClass: cabin() }),
    page: () => ({
      page: whole("page", 1, 1, Number.MAX_SAFE_INTEGER),
      limit: Math.min(whole("limit", defaultLimit, 1, Number.MAX_SAFE_INTEGER), maxLimit),
    }),
    /** Returns the request. Throws `invalid-parameter`, which names every invalid parameter. */
    done<Request extends Checked>(request: Request): Request {
      const { origin, destination, page = 1, limit = 1 } = request;
      if (origin !== "" && origin === destination) reject("destination", "Must differ from origin");
      if (page * limit > maxOffsetRows) {
        reject("page", `page × limit must not exceed ${maxOffsetRows}`);
      }
      const [first] = errors;
      if (first === undefined) return request;
      const name = "parameter" in first ? first.parameter : "";
      const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
      throw new AppError("invalid-parameter", `${name}: ${first.detail}${more}`, { errors });
    },
  };
}

/** What is checked once all parameters are read. */
interface Checked {
  readonly origin: string;
  readonly destination: string;
  readonly page?: number;
  readonly limit?: number;
}

/** A whole number, limited to 2⁵³ − 1. Null for anything else. */
function numberIn(value: unknown): number | null {
  if (typeof value === "string" && /^\d+$/.test(value)) {
    return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  }
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}
