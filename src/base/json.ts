// Parses JSON (RFC 8259) without losing digits: a double holds 15 to 17 of them, and services use longer ids.

import { stringEnd } from "./json-text.ts";

declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

const digits = Symbol("digits");

/** A number that a double would round. Has no enumerable keys, so that it does not look like an object with members. */
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

/** Finds numbers with more than 15 digits, infinite or nearly zero. Most JSON has none, and is parsed once. */
const long = /(?:^|[\s:,[])-?\d(?:[\d.]{15}|[\d.]*[eE][+-]?\d{3})/;
const quoteOrLong = /"|-?\d[\d.eE+-]{15,}|-?\d[\d.]*[eE][+-]?\d{3,}/g;
/** Starts the string that replaces a long number. No document contains it. */
const mark = `${crypto.randomUUID()} `;

/**
 * Parses JSON as `JSON.parse` does. Numbers that a double would round become an `ExactNumber`. A reviver would take longer,
 * and fail on deep documents.
 */
export function parseJson(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!long.test(json)) return value;
  let marked = "";
  let from = 0;
  let textEnd = -1;
  for (const { 0: part, index } of json.matchAll(quoteOrLong)) {
    if (index <= textEnd) continue;
    if (part === '"') textEnd = stringEnd(json, index);
    else if (String(Number(part)) !== part) {
      marked += `${json.slice(from, index)}"${mark}${part}"`;
      from = index + part.length;
    }
  }
  if (from === 0) return value;
  const root: unknown[] = [JSON.parse(marked + json.slice(from))];
  const open: Record<string | number, unknown>[] = [Object(root)];
  for (const holder of open) {
    for (const key of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
      const inner = holder[key];
      if (typeof inner === "object" && inner !== null) open.push(Object(inner));
      else if (typeof inner === "string" && inner.startsWith(mark)) {
        holder[key] = new ExactNumber(inner.slice(mark.length));
      }
    }
  }
  return root[0];
}
