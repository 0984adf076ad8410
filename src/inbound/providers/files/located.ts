import type { Lexer, LineCounter, parseDocument, visit } from "yaml";

import { lazy } from "../../../base/lazy.ts";

interface YamlModule {
  readonly parseDocument: typeof parseDocument;
  readonly LineCounter: typeof LineCounter;
  readonly Lexer: typeof Lexer;
  readonly visit: typeof visit;
}

type YamlDocument = ReturnType<typeof parseDocument>;

// Loaded on first use: a server without provider files does not need it, and loading takes longer than its start.
const yaml = lazy(() => {
  // Guarantee: the package exports them; the types are its own.
  return require("yaml") as YamlModule;
});

/** A key of an object, or an index of an array, on the way to a value. */
export type Step = string | number;

/** An error at a line of a file, counted from 1. */
export interface LineError {
  readonly line: number;
  readonly message: string;
}

/** The content of a YAML or JSON file, with the lines of its values. */
export interface Located {
  readonly value: unknown;
  /** Syntax errors and duplicate keys. */
  readonly errors: readonly LineError[];
  /** The line of the key or entry at a path or, if it is missing, of the nearest one around it. */
  lineOf(path: readonly Step[]): number;
}

/** Lexical tokens. Parsing takes 10 µs for each. The largest file of the catalogue has 1,100. */
const maxTokens = 20_000;
const maxDepth = 32;
const maxErrors = 20;

/** Parses YAML 1.2, of which JSON is a part. Never throws. */
export function located(text: string): Located {
  if (hasTooManyTokens(text)) {
    const message = "The file has too many keys and values: shorten it";
    return { value: null, errors: [{ line: 1, message }], lineOf: () => 1 };
  }
  const { parseDocument, LineCounter } = yaml();
  const lineCounter = new LineCounter();
  // Its own check compares each key with all others of the object.
  const options = { lineCounter, prettyErrors: false, uniqueKeys: false };
  const document = parseDocument(text, options);
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  const syntaxErrors = document.errors.slice(0, maxErrors);
  const errors = [
    ...syntaxErrors.map(({ pos, message }) => ({ line: lineAt(pos[0]), message })),
    ...(syntaxErrors.length > 0 ? [] : structureErrors(document, lineAt)),
  ];
  return {
    value: errors.length > 0 ? null : plain(document),
    errors,
    lineOf(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const offset = keyOffset(document, path.slice(0, length));
        if (offset !== null) return lineAt(offset);
      }
      return 1;
    },
  };
}

/** Stops reading at the limit: a small file can have a token for each character. */
function hasTooManyTokens(text: string): boolean {
  const { Lexer } = yaml();
  let count = 0;
  for (const _ of new Lexer().lex(text)) {
    count += 1;
    if (count > maxTokens) return true;
  }
  return false;
}

/** Duplicate keys, and a value that is nested too deeply to be read. */
function structureErrors(
  document: YamlDocument,
  lineAt: (offset: number) => number,
): readonly LineError[] {
  const { visit } = yaml();
  const errors: LineError[] = [];
  visit(document, {
    Collection(_, node, path) {
      if (path.filter((around) => "items" in around).length >= maxDepth) {
        const line = lineAt(offsetOf(node) ?? 0);
        errors.push({ line, message: `The value has more than ${maxDepth} levels` });
        return visit.BREAK;
      }
      if ("items" in node && errors.length < maxErrors) errors.push(...duplicates(node, lineAt));
      return undefined;
    },
  });
  return errors.slice(0, maxErrors);
}

function duplicates(
  { items }: { readonly items: readonly unknown[] },
  lineAt: (offset: number) => number,
): readonly LineError[] {
  const seen = new Set<string>();
  return items.flatMap((item) => {
    const key = keyNode(item);
    const name = textOf(key);
    if (name === null) return [];
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew ? [] : [{ line: lineAt(offsetOf(key) ?? 0), message: "Map keys must be unique" }];
  });
}

/** Null if aliases expand to too much. */
function plain(document: YamlDocument): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return null;
  }
}

/** The offset of the key at a path: the value of a key may begin on a later line. Of an entry of an array, its own. */
function keyOffset(document: YamlDocument, path: readonly Step[]) {
  const value: unknown = document.getIn(path, true);
  const around: unknown = document.getIn(path.slice(0, -1), true);
  if (value === undefined || typeof around !== "object" || around === null) return offsetOf(value);
  const items: unknown = "items" in around ? around.items : [];
  const pairs: readonly unknown[] = Array.isArray(items) ? items : [];
  const key = pairs.map(keyNode).find((node) => textOf(node) === String(path.at(-1)));
  return offsetOf(key ?? value);
}

/** The node of the key of a pair; undefined for an entry of an array. */
function keyNode(pair: unknown): unknown {
  return typeof pair === "object" && pair !== null && "key" in pair ? pair.key : undefined;
}

function textOf(node: unknown): string | null {
  return typeof node === "object" && node !== null && "value" in node ? String(node.value) : null;
}

function offsetOf(node: unknown): number | null {
  if (typeof node !== "object" || node === null || !("range" in node)) return null;
  return Array.isArray(node.range) && typeof node.range[0] === "number" ? node.range[0] : null;
}
