import { AppError, type FieldError } from "../../base/errors.ts";

/** A query parameter's fault, as the contract's 400. */
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

/** The value of a parameter given at most once; undefined when it is missing. */
export function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw invalidParameter(name, "Give it once");
  return values[0];
}

/** A free text to filter by; undefined when it is missing. */
export function textFilter(query: URLSearchParams, name: string): string | undefined {
  return checkedFilter(name, single(query, name));
}

/** The same for one that did not come in a query string. */
export function checkedFilter(name: string, value: string | null | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === "" || value.length > 200) throw invalidParameter(name, "1 to 200 characters");
  return value;
}

/** One of a few words; undefined when it is missing. */
export function choice<const Choice extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = single(query, name);
  if (value === undefined) return undefined;
  const found = choices.find((candidate) => candidate === value);
  if (found === undefined) throw invalidParameter(name, `One of: ${choices.join(", ")}`);
  return found;
}

/** Some of a few words, each once, with commas between them; none when it is missing. */
export function choices<const Choice extends string>(
  query: URLSearchParams,
  name: string,
  known: readonly Choice[],
): readonly Choice[] {
  const values = single(query, name)?.split(",") ?? [];
  const found = known.filter((word) => values.includes(word));
  if (found.length !== values.length) {
    throw invalidParameter(name, `${known.length > 1 ? "Some" : "One"} of: ${known.join(", ")}`);
  }
  return found;
}

/** A whole number of at least `least`; undefined when it is missing. Larger than 2⁵³ reads as 2⁵³. */
export function wholeNumber(
  query: URLSearchParams,
  name: string,
  least: number,
): number | undefined {
  const value = single(query, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < least) {
    throw invalidParameter(name, `A whole number from ${least} up`);
  }
  return Math.min(number, Number.MAX_SAFE_INTEGER);
}
