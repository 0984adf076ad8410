import { type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";

import { AppError, type FieldError } from "./errors.ts";

/** A fault of one field of a body. `kind`: its JSON type is wrong, or a rule is broken. */
export interface Fault {
  readonly pointer: string;
  readonly kind: "type" | "rule";
  readonly detail: string;
}

/** More are not told: a body of a thousand faults is not worth a thousand lines. */
const maxFaults = 20;

/**
 * The error for a body's faults, or null when there are none. One wrongly typed field makes it
 * `invalid-body`; broken rules alone make it `ruleCode`.
 */
export function faultsError(
  faults: readonly Fault[],
  ruleCode: "validation-failed" | "invalid-body",
): AppError | null {
  const [first] = faults;
  if (first === undefined) return null;
  const code = faults.some(({ kind }) => kind === "type") ? "invalid-body" : ruleCode;
  const errors: FieldError[] = faults.slice(0, maxFaults).map(({ pointer, kind, detail }) => ({
    pointer,
    code: kind === "type" ? "wrong-type" : "rule-broken",
    detail,
  }));
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  return new AppError(code, `${first.pointer || "The body"}: ${first.detail}${more}`, { errors });
}

/** The faults that a schema's check found, one a place. */
export function schemaFaults(errors: Iterable<ValueError>): readonly Fault[] {
  const faults = new Map<string, Fault>();
  for (const error of errors) {
    // The first fault of a place says it best; those that follow from it only repeat it.
    if (!faults.has(error.path)) faults.set(error.path, faultOf(error));
    if (faults.size > maxFaults) break;
  }
  return [...faults.values()];
}

const typeErrors: ReadonlySet<ValueErrorType> = new Set([
  ValueErrorType.Array,
  ValueErrorType.Boolean,
  ValueErrorType.Integer,
  ValueErrorType.Number,
  ValueErrorType.Object,
  ValueErrorType.String,
]);

function faultOf({ type, path, value, schema, message }: ValueError): Fault {
  if (type === ValueErrorType.ObjectRequiredProperty) {
    return { pointer: path, kind: "rule", detail: "Required" };
  }
  // Literals and unions are words here: another word breaks a rule, anything else is a wrong type.
  const isWord = type === ValueErrorType.Union || type === ValueErrorType.Literal;
  const isWrongType = typeErrors.has(type) || (isWord && typeof value !== "string");
  const own: unknown = schema["errorMessage"];
  const detail = typeof own === "string" ? own : message;
  return { pointer: path, kind: isWrongType ? "type" : "rule", detail };
}
