import { type TSchema } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";

import { nearest } from "../../../base/nearest.ts";
import { pointerKeys } from "../../../base/place.ts";

import type { Step } from "./located.ts";

/** What is wrong with a value, and what to write instead. */
export interface ValueProblem {
  readonly path: readonly Step[];
  readonly message: string;
}

const maxProblems = 20;

/** All problems of a value, one for each place. Empty if the value matches the schema. */
export function problemsOf(
  schema: TSchema,
  value: unknown,
  above: readonly Step[] = [],
): readonly ValueProblem[] {
  const byPlace = new Map<string, ValueProblem>();
  for (const error of Value.Errors(schema, value)) {
    // A missing value has no place. `explained` reports it at what surrounds it.
    if (error.value === undefined && error.type !== ValueErrorType.ObjectRequiredProperty) continue;
    for (const { path, message } of explained(error, above)) {
      // Several values can be missing at one place.
      const place = error.value === undefined ? message : path.join("/");
      // The first error of a place is the most precise; the others follow from it.
      if (!byPlace.has(place)) byPlace.set(place, { path, message });
    }
    if (byPlace.size >= maxProblems) break;
  }
  return [...byPlace.values()];
}

function explained(
  { type, path, value, schema, message }: ValueError,
  above: readonly Step[],
): readonly ValueProblem[] {
  const steps = [...above, ...pointerKeys(path)];
  const name = steps.join(".");
  const key = String(steps.at(-1));
  switch (type) {
    case ValueErrorType.ObjectAdditionalProperties: {
      const known = Object.keys(propertiesOf(schema));
      return [{ path: steps, message: `"${key}" is unknown. ${suggestion(key, known)}` }];
    }
    case ValueErrorType.ObjectRequiredProperty:
      return [
        {
          path: steps.slice(0, -1),
          message: `"${key}" is missing. ${descriptionOf(schema)}`.trim(),
        },
      ];
    case ValueErrorType.Kind:
      return [{ path: steps, message: `${name}: ${descriptionOf(schema)}` }];
    case ValueErrorType.Union:
      return explainedUnion(schema, steps, value);
    default:
      return [{ path: steps, message: `${name || "The file"}: ${said(message, schema)}` }];
  }
}

/** Explains a value that matches none of several schemas, by the one that it was probably meant for. */
function explainedUnion(
  schema: TSchema,
  steps: readonly Step[],
  value: unknown,
): readonly ValueProblem[] {
  const branches = branchesOf(schema);
  const name = steps.join(".");
  const isConstant = (branch: TSchema) => "const" in branch;
  const meant = branches.find((branch) => !isConstant(branch) && isMeant(branch, value));
  if (meant !== undefined) return problemsOf(meant, value, steps);
  const kinds = branches.flatMap((branch) => kindsOf(branch));
  if (kinds.length > 0 && isObject(value)) {
    const kind = "kind" in value ? `"${String(value.kind)}"` : "nothing";
    const message = `${name}.kind must be one of ${kinds.join(", ")}, not ${kind}`;
    return [{ path: [...steps, "kind"], message }];
  }
  const texts = branches.filter(isConstant).map((branch) => String(branch["const"]));
  if (texts.length > 0) {
    const message = `${name} must be one of ${texts.join(", ")}, not ${JSON.stringify(value)}. ${guess(String(value), texts)}`;
    return [{ path: [...steps], message: message.trim() }];
  }
  return [{ path: [...steps], message: `${name}: ${descriptionOf(schema)}` }];
}

/** The schemas of a union, with those of unions within it. */
function branchesOf(schema: TSchema): readonly TSchema[] {
  const branches: readonly TSchema[] | undefined = schema["anyOf"];
  return branches === undefined ? [schema] : branches.flatMap(branchesOf);
}

/** Whether a value was probably meant for a schema: it has its JSON type and, if there is one, its `kind`. */
function isMeant(schema: TSchema, value: unknown): boolean {
  const kinds = kindsOf(schema);
  if (kinds.length > 0) {
    return isObject(value) && "kind" in value && kinds.includes(String(value.kind));
  }
  const type: unknown = schema["type"];
  if (Array.isArray(value)) return type === "array";
  return type === (typeof value === "object" && value !== null ? "object" : typeof value);
}

/** The values that `kind` can have in an object schema. */
function kindsOf(schema: TSchema): readonly string[] {
  const kind = propertiesOf(schema)["kind"];
  if (kind === undefined) return [];
  return branchesOf(kind).map((branch) => String(branch["const"]));
}

function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  return schema["properties"] ?? {};
}

function suggestion(word: string, known: readonly string[]): string {
  return guess(word, known) || `Known: ${known.join(", ")}`;
}

function guess(word: string, known: readonly string[]): string {
  const begun = known.find((name) => word.length > 2 && name.startsWith(word));
  const near = begun ?? nearest(word, known);
  return near === null ? "" : `Did you mean "${near}"?`;
}

function said(message: string, schema: TSchema): string {
  const description = descriptionOf(schema);
  const rule = message.startsWith("Expected") ? `e${message.slice(1)}` : message;
  return description === "" || message.includes(description) ? rule : `${rule}. ${description}`;
}

function descriptionOf(schema: TSchema): string {
  return schema.description ?? "";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
