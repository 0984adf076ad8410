import { type TSchema } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";

import { nearest } from "../../../base/nearest.ts";
import { isObject } from "../../../base/payload.ts";
import { pointerKeys } from "../../../base/place.ts";
import type { Step, ValueProblem } from "../../../base/value-problem.ts";

const maxProblems = 20;

/** All problems of a value, one for each place. Empty if the value matches the schema. */
export function schemaProblems(
  schema: TSchema,
  value: unknown,
  above: readonly Step[] = [],
): readonly ValueProblem[] {
  const byPlace = new Map<string, ValueProblem>();
  for (const error of Value.Errors(schema, value)) {
    // A missing value has no place. `explained` reports it at what surrounds it.
    if (error.value === undefined && error.type !== ValueErrorType.ObjectRequiredProperty) continue;
    for (const problem of explained(error, [...above, ...pointerKeys(error.path)])) {
      // Several values can be missing at one place.
      const place = error.value === undefined ? problem.message : problem.path.join("/");
      // The first error of a place is the most precise; the others follow from it.
      if (!byPlace.has(place)) byPlace.set(place, problem);
    }
    if (byPlace.size >= maxProblems) break;
  }
  return [...byPlace.values()];
}

function explained(
  { type, value, schema, message }: ValueError,
  path: readonly Step[],
): readonly ValueProblem[] {
  const { description = "" } = schema;
  const key = String(path.at(-1));
  switch (type) {
    case ValueErrorType.ObjectAdditionalProperties: {
      const known = Object.keys(propertiesOf(schema));
      const hint = guess(key, known) || `Known: ${known.join(", ")}`;
      return [{ path, message: `"${key}" is unknown. ${hint}` }];
    }
    case ValueErrorType.ObjectRequiredProperty: {
      const missing = `"${key}" is missing. ${description}`.trim();
      return [{ path: path.slice(0, -1), message: missing }];
    }
    case ValueErrorType.Union:
      return explainedUnion(schema, path, value);
    default: {
      const rule = message.replace(/^Expected/, "expected");
      const isSaid = description === "" || message.includes(description);
      const said = isSaid ? rule : `${rule}. ${description}`;
      const name = path.join(".") || "The file";
      return [{ path, message: `${name}: ${type === ValueErrorType.Kind ? description : said}` }];
    }
  }
}

/** Explains a value that matches none of several schemas, by the one that it was probably meant for. */
function explainedUnion(
  schema: TSchema,
  path: readonly Step[],
  value: unknown,
): readonly ValueProblem[] {
  const meant = meantSchema(schema, value);
  if (meant !== undefined) return schemaProblems(meant, value, path);
  const branches = branchesOf(schema);
  const name = path.join(".");
  const kinds = branches.flatMap(kindsOf);
  if (kinds.length > 0 && isObject(value)) {
    const kind = "kind" in value ? `"${String(value["kind"])}"` : "nothing";
    const message = `${name}.kind must be one of ${kinds.join(", ")}, not ${kind}`;
    return [{ path: [...path, "kind"], message }];
  }
  const texts = constantsOf(branches);
  if (texts.length === 0) return [{ path, message: `${name}: ${schema.description ?? ""}` }];
  const message = `${name} must be one of ${texts.join(", ")}, not ${JSON.stringify(value)}. ${guess(String(value), texts)}`;
  return [{ path, message: message.trim() }];
}

/** The schema that a value was probably meant for: of a union, the one with its JSON type. */
export function meantSchema(schema: TSchema, value: unknown): TSchema | undefined {
  return branchesOf(schema).find((branch) => !("const" in branch) && isMeant(branch, value));
}

/** The schemas of a union, with those of unions within it. */
function branchesOf(schema: TSchema): readonly TSchema[] {
  const branches: readonly TSchema[] | undefined = schema["anyOf"];
  return branches === undefined ? [schema] : branches.flatMap(branchesOf);
}

/** Whether a value was probably meant for a schema: it has its JSON type and, if there is one, its `kind`. */
function isMeant(schema: TSchema, value: unknown): boolean {
  const kinds = kindsOf(schema);
  if (kinds.length > 0) return isObject(value) && kinds.includes(String(value["kind"]));
  const type: unknown = schema["type"];
  return type === (Array.isArray(value) ? "array" : typeof value);
}

/** The values that `kind` can have in an object schema. */
function kindsOf(schema: TSchema): readonly string[] {
  const kind = propertiesOf(schema)["kind"];
  return kind === undefined ? [] : constantsOf(branchesOf(kind));
}

function constantsOf(branches: readonly TSchema[]): readonly string[] {
  return branches.flatMap((branch) => ("const" in branch ? [String(branch["const"])] : []));
}

function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  return schema["properties"] ?? {};
}

/** The known word that was probably meant, as a question. */
function guess(word: string, known: readonly string[]): string {
  const begun = known.find((name) => word.length > 2 && name.startsWith(word));
  const near = begun ?? nearest(word, known);
  return near === null ? "" : `Did you mean "${near}"?`;
}
