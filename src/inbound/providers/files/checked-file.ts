import type { Static, TSchema } from "@sinclair/typebox";

import { FileError } from "../../../base/file-error.ts";
import { printable } from "../../../base/payload.ts";

import { type LineError, located } from "./located.ts";
import { problemsOf, type ValueProblem } from "./schema-errors.ts";

/** The content of a YAML or JSON file that matches its schema. */
export interface CheckedFile<Value> {
  readonly value: Value;
  /** Throws a `FileError` with the line of each problem, if there are any. */
  readonly requireNone: (problems: readonly ValueProblem[]) => void;
}

/** A file of more characters than this is not read. */
export const maxFileCharacters = 256 * 1024;

/** Reads a file strictly: no unknown keys. Throws a `FileError` that names every error. */
export function checkedFile<Schema extends TSchema>(
  name: string,
  text: string,
  schema: Schema,
): CheckedFile<Static<Schema>> {
  if (text.length > maxFileCharacters) {
    throw new FileError(`${name}:1: the file is larger than ${maxFileCharacters} characters`);
  }
  const content = located(text);
  if (content.errors.length > 0) throw errorOf(name, content.errors);
  const requireNone = (problems: readonly ValueProblem[]): void => {
    const lines = problems.map(({ path, message }) => ({ line: content.lineOf(path), message }));
    if (lines.length > 0) throw errorOf(name, lines);
  };
  requireNone(problemsOf(schema, content.value));
  // Guarantee: the schema of the type has no problem with the value.
  return { value: content.value as Static<Schema>, requireNone };
}

/** An error can repeat a value of the file. */
const maxMessageLength = 500;

function errorOf(name: string, errors: readonly LineError[]): FileError {
  const sorted = errors.toSorted((one, other) => one.line - other.line);
  return new FileError(
    ...sorted.map(
      ({ line, message }) =>
        `${name}:${line}: ${printable(message, maxMessageLength) ?? "invalid"}`,
    ),
  );
}
