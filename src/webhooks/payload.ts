import type { EventData } from "../events/event.ts";

import type { JsonObject } from "./provider.ts";

// Readers for payloads that may hold anything: each answers null rather than throw, caps what it
// copies, and leaves control characters out, so that what is stored is safe to print.

const maxTextLength = 500;
const maxUrlLength = 2_048;
/** Control characters, line and paragraph separators, and bidirectional overrides. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** True for a JSON object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path of own keys, or undefined. */
export function at(payload: unknown, ...path: readonly string[]): unknown {
  let value = payload;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** The object at a path, or an empty one. */
export function objectAt(payload: unknown, ...path: readonly string[]): JsonObject {
  const value = at(payload, ...path);
  return isObject(value) ? value : {};
}

/** The text at a path on one line, trimmed and capped; numbers as text; null when there is none. */
export function textAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" ? printable(value) : null;
}

/** Text on one line, without control characters, at most `maxLength` characters; null when empty. */
export function printable(text: string, maxLength = maxTextLength): string | null {
  // Cut before cleaning, so that a huge text costs no more than a small one.
  const clean = text
    .slice(0, maxLength * 4)
    .toWellFormed()
    .replaceAll(unprintable, " ")
    .trim();
  if (clean.length <= maxLength) return clean === "" ? null : clean;
  return `${clean.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** The first line of the text at a path, at most 120 characters. */
export function firstLineAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  if (typeof value !== "string") return null;
  return printable(
    value
      .slice(0, 1_000)
      .trim()
      .split(/[\r\n]/, 1)[0] ?? "",
    120,
  );
}

/** The http or https URL at a path, or null: nothing else may become a link. */
export function urlAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  return typeof value === "string" ? webUrl(value) : null;
}

/** `text` when it is an http or https URL, else null. */
export function webUrl(text: string): string | null {
  if (text.length > maxUrlLength || !/^https?:\/\//i.test(text)) return null;
  return URL.parse(text)?.href ?? null;
}

/** The ISO 8601 time at a path, or null. */
export function isoTimeAt(payload: unknown, ...path: readonly string[]): Date | null {
  const value = at(payload, ...path);
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}T/.test(value)) return null;
  return validTime(Date.parse(value));
}

/** The time at a path given in seconds since the epoch, perhaps with a fraction, or null. */
export function unixSecondsAt(payload: unknown, ...path: readonly string[]): Date | null {
  const value = at(payload, ...path);
  return typeof value === "number" ? validTime(Math.round(value * 1_000)) : null;
}

/** The time at a path given in milliseconds since the epoch, or null. */
export function unixMillisAt(payload: unknown, ...path: readonly string[]): Date | null {
  const value = at(payload, ...path);
  return typeof value === "number" ? validTime(Math.round(value)) : null;
}

/** Times outside the years 2000 to 2100 are mistakes, not times. */
function validTime(ms: number): Date | null {
  const earliest = Date.UTC(2000, 0);
  const latest = Date.UTC(2100, 0);
  return ms >= earliest && ms < latest ? new Date(ms) : null;
}

/** Named fields for `Event.data`, without those that are null. */
export function dataOf(fields: EventData): EventData {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Joins the parts that are there. */
export function joined(separator: string, ...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(separator);
}
