import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";

import { AppError, type FieldError } from "./errors.ts";
import { lazy } from "./lazy.ts";

/** A fault of one field of a body. `kind`: its JSON type is wrong, or a rule is broken. */
export interface Fault {
  readonly pointer: string;
  readonly kind: "type" | "rule";
  readonly detail: string;
}

/** More are not told: a body of a thousand faults is not worth a thousand lines. */
const maxFaults = 20;

/**
 * A reader of bodies of one schema, the one that the API documents show. `rules` finds what a schema cannot
 * say, in any body: all faults come in one error. One wrongly typed field makes it `invalid-body`;
 * broken rules alone make it `ruleCode`.
 */
export function bodyReader<Schema extends TSchema, Facts extends readonly unknown[] = []>(
  schema: Schema,
  ruleCode: "validation-failed" | "invalid-body",
  rules: (body: unknown, ...facts: Facts) => readonly Fault[] = () => [],
): (body: unknown, ...facts: Facts) => Static<Schema> {
  const check = lazy(() => TypeCompiler.Compile(schema));
  return (body, ...facts) => {
    const compiled = check();
    const isOfSchema = compiled.Check(body);
    const faults = isOfSchema ? [] : schemaFaults(compiled.Errors(body));
    const places = new Set(faults.map(({ pointer }) => pointer));
    const broken = rules(body, ...facts).filter(({ pointer }) => !places.has(pointer));
    const error = faultsError([...faults, ...broken], ruleCode);
    if (error !== null) throw error;
    if (!isOfSchema) throw new Error("A body that breaks its schema has no fault");
    return body;
  };
}

function faultsError(
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
function schemaFaults(errors: Iterable<ValueError>): readonly Fault[] {
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
