import type { LineCounter, parseDocument } from "yaml";

import { lazy } from "../../../base/lazy.ts";

interface YamlModule {
  readonly parseDocument: typeof parseDocument;
  readonly LineCounter: typeof LineCounter;
}

// Loaded on first use: a server without provider files does not need it, and loading takes longer than its start.
const yaml = lazy(() => {
  // Guarantee: the package exports both; the types are its own.
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

/** Parses YAML 1.2, of which JSON is a part. Never throws. */
export function located(text: string): Located {
  const { parseDocument, LineCounter } = yaml();
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  const errors = document.errors.map(({ pos, message }) => ({ line: lineAt(pos[0]), message }));
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

/** Null if aliases expand to too much. */
function plain(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return null;
  }
}

/** The offset of the key at a path: the value of a key may begin on a later line. Of an entry of an array, its own. */
function keyOffset(document: ReturnType<typeof parseDocument>, path: readonly Step[]) {
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
