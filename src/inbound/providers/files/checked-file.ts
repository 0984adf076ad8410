import type { Static, TSchema } from "@sinclair/typebox";
import type * as Yaml from "yaml";

import { FileError } from "../../../base/file-error.ts";
import { lazy } from "../../../base/lazy.ts";
import { printable } from "../../../base/payload.ts";
import type { Step, ValueProblem } from "../../../base/value-problem.ts";

import { schemaProblems } from "./schema-problems.ts";

// Loaded on first use: a server without provider files does not need it, and loading takes longer than its start.
const yaml = lazy(() => {
  // Guarantee: the types are the package's own.
  return require("yaml") as typeof Yaml;
});

/** A file of more characters than this is not read. */
export const maxFileCharacters = 256 * 1024;
/** Lexical tokens. Parsing takes 10 µs for each. The largest file of the catalogue has 1,100. */
const maxTokens = 20_000;
const maxDepth = 32;
const maxErrors = 20;
/** An error can repeat a value of the file. */
const maxMessageLength = 500;

/** An error at an offset of a text. */
interface TextError {
  readonly offset: number;
  readonly message: string;
}

/**
 * Reads a file of YAML 1.2, of which JSON is a part, strictly: no unknown keys. `problemsOf`: what is wrong with a value
 * that its schema cannot express. Throws a `FileError` with the line of every error.
 */
export function checkedFile<Schema extends TSchema>(
  name: string,
  text: string,
  schema: Schema,
  problemsOf: (value: Static<Schema>) => readonly ValueProblem[],
): Static<Schema> {
  if (text.length > maxFileCharacters) {
    throw new FileError(`${name}:1: the file is larger than ${maxFileCharacters} characters`);
  }
  const { Lexer, LineCounter, parseDocument } = yaml();
  // Stops reading at the limit: a small file can have a token for each character.
  if (new Lexer().lex(text).drop(maxTokens).next().done !== true) {
    throw new FileError(`${name}:1: The file has too many keys and values: shorten it`);
  }
  const lineCounter = new LineCounter();
  // Its own check of keys compares each one with all others of the object.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false });
  const requireNone = (errors: readonly TextError[]): void => {
    const sorted = errors.toSorted((one, other) => one.offset - other.offset);
    const lines = sorted.map(({ offset, message }) => {
      const { line } = lineCounter.linePos(offset);
      return `${name}:${line}: ${printable(message, maxMessageLength) ?? "invalid"}`;
    });
    if (lines.length > 0) throw new FileError(...lines);
  };
  const located = ({ path, message }: ValueProblem): TextError => {
    return { offset: offsetOf(document, path), message };
  };
  const syntaxErrors = document.errors.slice(0, maxErrors);
  requireNone(syntaxErrors.map(({ pos: [offset], message }) => ({ offset, message })));
  requireNone(structureErrors(document).slice(0, maxErrors));
  const value = plain(document);
  requireNone(schemaProblems(schema, value).map(located));
  // Guarantee: the schema of the type has no problem with the value.
  const checked = value as Static<Schema>;
  requireNone(problemsOf(checked).map(located));
  return checked;
}

/** Duplicate keys, and a value that is nested too deeply to be read. */
function structureErrors(document: Yaml.Document): readonly TextError[] {
  const { isCollection, isPair, visit } = yaml();
  const errors: TextError[] = [];
  visit(document, {
    Collection(_, node, path) {
      if (path.filter(isCollection).length >= maxDepth) {
        const message = `The value has more than ${maxDepth} levels`;
        errors.push({ offset: startOf(node), message });
        return visit.BREAK;
      }
      const items: readonly unknown[] = node.items;
      const seen = new Set<string | null>();
      for (const { key } of items.filter((item) => isPair(item))) {
        const name = nameOf(key);
        const message = "Map keys must be unique";
        if (seen.has(name)) errors.push({ offset: startOf(key), message });
        if (name !== null) seen.add(name);
      }
      return undefined;
    },
  });
  return errors;
}

/** Null if aliases expand to too much. */
function plain(document: Yaml.Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return null;
  }
}

/**
 * Where the key or entry at a path begins or, if it is missing, the nearest one around it. The value of a key may begin on
 * a later line.
 */
function offsetOf(document: Yaml.Document, path: readonly Step[]): number {
  const { isCollection, isPair } = yaml();
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    const items: readonly unknown[] = isCollection(node) ? node.items : [];
    const item = items.find((each, index) =>
      isPair(each) ? nameOf(each.key) === String(step) : index === Number(step),
    );
    if (item === undefined) break;
    offset = startOf(isPair(item) ? item.key : item);
    node = isPair(item) ? item.value : item;
  }
  return offset;
}

function nameOf(key: unknown): string | null {
  return yaml().isScalar(key) ? String(key.value) : null;
}

function startOf(node: unknown): number {
  return (yaml().isNode(node) && node.range?.[0]) || 0;
}
