import { AppError, type FieldError } from "./errors.ts";
import { isoTime } from "./times.ts";

export function invalidParameter(parameter: string, detail: string): AppError {
  return parameterError("invalid-parameter", parameter, detail);
}

export function parameterError(
  code: "invalid-parameter" | "conflicting-parameters" | "invalid-cursor",
  parameter: string,
  detail: string,
): AppError {
  const error: FieldError = { parameter, code, detail };
  return new AppError(code, `${parameter}: ${detail}`, { errors: [error] });
}

/** The value of a parameter that must not be repeated; undefined if it is missing. */
export function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw invalidParameter(name, "Must not be repeated");
  return values[0];
}

/** An instant in ISO 8601 with an offset (see `isoTime`). */
export function checkedInstant(name: string, text: string): Date {
  // An unescaped + in a query string is a space.
  const at = isoTime(text.replace(/ (?=\d\d(?::?\d\d)?$)/, "+"));
  if (at !== null) return at;
  throw invalidParameter(name, "Must be an instant in ISO 8601, such as 2026-11-21T09:00:00Z");
}

/** One of the given values; undefined if it is missing. */
export function choice<const Choice extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = single(query, name);
  return value === undefined ? undefined : choiceOf(name, choices, value);
}

export function choiceOf<const Choice extends string>(
  name: string,
  choices: readonly Choice[],
  value: string,
): Choice {
  const found = choices.find((candidate) => candidate === value);
  if (found === undefined) throw invalidParameter(name, `Must be one of: ${choices.join(", ")}`);
  return found;
}

/** A comma-separated subset of the known values, without duplicates; empty if it is missing. */
export function choices<const Choice extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly Choice[],
): readonly Choice[] {
  const values = single(query, name)?.split(",") ?? [];
  const found = known.filter((word) => values.includes(word));
  if (found.length !== values.length) {
    const detail = known.length > 1 ? "Must be a comma-separated list of" : "Must be one of";
    throw invalidParameter(name, `${detail}: ${known.join(", ")}`);
  }
  return found;
}

/** An integer of at least `min`; undefined if it is missing. Values above 2⁵³ − 1 count as 2⁵³ − 1. */
export function wholeNumber(query: URLSearchParams, name: string, min: number): number | undefined {
  const value = single(query, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min) {
    throw invalidParameter(name, `Must be an integer of at least ${min}`);
  }
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}

/** Validates an optional Idempotency-Key. Throws `invalid-parameter`, which names `parameter`, for an invalid key. */
export function checkedIdempotencyKey(
  key: string | null | undefined,
  parameter: string,
): string | null {
  if (key === null || key === undefined) return null;
  if (/^[\u0021-\u007e]{1,255}$/.test(key)) return key;
  throw invalidParameter(parameter, "Must be 1 to 255 visible ASCII characters");
}
