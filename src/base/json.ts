// JSON (RFC 8259) whose numbers keep their digits: a double has 15 to 17 of them, and services count beyond.

import { stringEnd } from "./json-text.ts";

declare global {
  interface JSON {
    /** A number as it is written: https://tc39.es/proposal-json-parse-with-source/ */
    rawJSON(text: string): unknown;
  }
}

const digits = Symbol("digits");

/** A number of which a double would lose digits. It has no keys, so it is no object to those who look for members. */
export class ExactNumber {
  readonly [digits]: string;

  constructor(text: string) {
    this[digits] = text;
  }

  toString(): string {
    return this[digits];
  }

  toJSON(): unknown {
    return JSON.rawJSON(this[digits]);
  }
}

/** A number of JSON. `Number` rounds it, `String` does not. */
export function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === "number" || value instanceof ExactNumber;
}

/** Where a number can have more than 15 digits. Nearly all JSON has none such, and is parsed at once. */
const long = /\d[\d.]{15}/;

/** Marks such a number as a text, as no document has it. */
const mark = `${crypto.randomUUID()} `;

type Holder = Record<string | number, unknown>;

/**
 * Parses JSON as `JSON.parse` does. Numbers that a double would change are an `ExactNumber`. Not with a reviver, which
 * takes seven times as long and fails on deep documents.
 */
export function parseJson(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!long.test(json)) return value;
  const changed = marked(json);
  if (changed === json) return value;
  const root: unknown[] = [JSON.parse(changed)];
  const open: Holder[] = [Object(root)];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder);
    for (const key of keys) unmark(holder, key, open);
  }
  return root[0];
}

/** Replaces a marked text by its number, and lists a value that can hold more of them. */
function unmark(holder: Holder, key: string | number, open: Holder[]): void {
  const value = holder[key];
  if (typeof value === "object" && value !== null) open.push(Object(value));
  else if (typeof value === "string" && value.startsWith(mark)) {
    holder[key] = new ExactNumber(value.slice(mark.length));
  }
}

/** Valid JSON with the numbers marked that a double would change. */
function marked(json: string): string {
  let [done, copied] = ["", 0];
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    if (end - at > 15 && long.test(json.slice(at, end))) {
      done += json.slice(copied, at) + json.slice(at, end).replaceAll(number, markedNumber);
      copied = end;
    }
    at = quote < 0 ? end : stringEnd(json, quote) + 1;
  }
  return done + json.slice(copied);
}

const number = /-?\d[\d.eE+-]*/g;

function markedNumber(text: string): string {
  return String(Number(text)) === text || !long.test(text) ? text : `"${mark}${text}"`;
}
