import { type Static, type TSchema, TypeGuard } from "@sinclair/typebox";
import { TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";

import { AppError, type FieldError } from "./errors.ts";
import { lazy } from "./lazy.ts";

/** An error in one field of a body. `kind`: the JSON type is wrong, or a rule is broken. */
export interface BodyError {
  readonly pointer: string;
  readonly kind: "type" | "rule";
  readonly detail: string;
}

const { IsArray, IsObject, IsOptional } = TypeGuard;

/** The most errors that one response lists. */
const maxErrors = 20;

/**
 * Makes a reader that checks bodies against `schema`, which the API documents show too. `rules` checks what a
 * schema cannot express, and must accept any value as the body. An optional member that is null is absent, unless null is one
 * of its values. The reader returns the members that the schema names. It throws
 * one `AppError` that lists all errors: `invalid-body` if any JSON type is wrong, otherwise `ruleCode`.
 */
export function bodyReader<Schema extends TSchema, Args extends readonly unknown[] = []>(
  schema: Schema,
  ruleCode: "validation-failed" | "invalid-body",
  rules: (body: unknown, ...args: Args) => readonly BodyError[] = () => [],
): (body: unknown, ...args: Args) => Static<Schema> {
  const check = lazy(() => TypeCompiler.Compile(schema));
  return (given, ...args) => {
    const compiled = check();
    const body = withoutNulls(schema, given);
    const matches = compiled.Check(body);
    const errors = matches ? [] : schemaErrors(compiled.Errors(body));
    const invalid = new Set(errors.map(({ pointer }) => pointer));
    const broken = rules(body, ...args).filter(({ pointer }) => !invalid.has(pointer));
    const error = appErrorOf([...errors, ...broken], ruleCode);
    if (error !== null) throw error;
    if (!matches) throw new Error("The schema rejects the body without an error");
    return withoutUnknown(schema, body);
  };
}

/** The error for a rule that the field at `pointer` breaks. */
export function invalid(pointer: string, ...details: readonly [string, ...string[]]): AppError {
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : "";
  return new AppError("validation-failed", `${details[0]}${more}`, {
    errors: details.map((detail) => ({ pointer, code: "rule-broken", detail })),
  });
}

function withoutNulls(schema: TSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    return IsArray(schema) ? value.map((item: unknown) => withoutNulls(schema.items, item)) : value;
  }
  if (!IsObject(schema) || typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (property === undefined) return [[name, member]];
    const isAbsent = member === null && IsOptional(property) && !Value.Check(property, null);
    return isAbsent ? [] : [[name, withoutNulls(property, member)]];
  });
  return Object.fromEntries(members);
}

/** The members of the body that the schema names: others may have the names of fields that callers cannot set. */
function withoutUnknown<Schema extends TSchema>(
  schema: Schema,
  body: Static<Schema>,
): Static<Schema> {
  const properties: unknown = schema["properties"];
  const isObject = typeof properties === "object" && properties !== null;
  if (!isObject || typeof body !== "object" || body === null) return body;
  const known = Object.entries(body).filter(([name]) => Object.hasOwn(properties, name));
  // Guarantee: an object that matches the schema also matches it without members that the schema does not name.
  return Object.fromEntries(known) as Static<Schema>;
}

function appErrorOf(
  errors: readonly BodyError[],
  ruleCode: "validation-failed" | "invalid-body",
): AppError | null {
  const [first] = errors;
  if (first === undefined) return null;
  const code = errors.some(({ kind }) => kind === "type") ? "invalid-body" : ruleCode;
  const shown: FieldError[] = errors.slice(0, maxErrors).map(({ pointer, kind, detail }) => ({
    pointer,
    code: kind === "type" ? "wrong-type" : "rule-broken",
    detail,
  }));
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return new AppError(code, `${first.pointer || "The body"}: ${first.detail}${more}`, {
    errors: shown,
  });
}

/** The errors that the schema check found, at most one for each field. */
function schemaErrors(errors: Iterable<ValueError>): readonly BodyError[] {
  const byField = new Map<string, BodyError>();
  for (const error of errors) {
    // The first error of a field is the most precise; the others follow from it.
    if (!byField.has(error.path)) byField.set(error.path, bodyErrorOf(error));
    if (byField.size > maxErrors) break;
  }
  return [...byField.values()];
}

const typeErrors: ReadonlySet<ValueErrorType> = new Set([
  ValueErrorType.Array,
  ValueErrorType.Boolean,
  ValueErrorType.Integer,
  ValueErrorType.Number,
  ValueErrorType.Object,
  ValueErrorType.String,
]);

/** Errors of unions, literals and our own kinds of strings. */
const stringErrors: ReadonlySet<ValueErrorType> = new Set([
  ValueErrorType.Kind,
  ValueErrorType.Literal,
  ValueErrorType.Union,
]);

function bodyErrorOf({ type, path, value, schema, message }: ValueError): BodyError {
  if (type === ValueErrorType.ObjectRequiredProperty) {
    return { pointer: path, kind: "rule", detail: "Required" };
  }
  // These are strings here: another string breaks a rule, any other type is a wrong type.
  const isWrongType = typeErrors.has(type) || (stringErrors.has(type) && typeof value !== "string");
  const own: unknown = schema["errorMessage"];
  const detail = typeof own === "string" ? own : message;
  return { pointer: path, kind: isWrongType ? "type" : "rule", detail };
}
