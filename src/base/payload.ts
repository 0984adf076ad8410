// Readers for untrusted payloads. They return null instead of throwing, limit the length of what they copy
// and remove control characters, so that stored text is safe to print.

import { ExactNumber, isNumber } from "./json.ts";
import { isoTime } from "./times.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

const maxTextLength = 500;
const maxLineLength = 120;
const maxUrlLength = 2_048;
/** Maximum entries read from an array. */
const maxItems = 100;

/** Control characters, line and paragraph separators, and bidirectional controls. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/** Whether the value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return asPayload(value) !== null && !Array.isArray(value);
}

/** A payload as the type that built-in providers read. Arrays have their indexes as keys. */
export function asPayload(value: unknown): JsonObject | null {
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return null;
  // Guarantee: objects and arrays have own keys, and every reader checks what a key holds.
  return value as JsonObject;
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

/** The object at a path, or an empty object. */
export function objectAt(payload: unknown, ...path: readonly string[]): JsonObject {
  const value = at(payload, ...path);
  return isObject(value) ? value : {};
}

/** The first entries of the array at a path, or none if it is not an array. */
export function itemsAt(payload: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = at(payload, ...path);
  return Array.isArray(value) ? value.slice(0, maxItems) : [];
}

/** Whether the value at a path is exactly `true`. */
export function isTrueAt(payload: unknown, ...path: readonly string[]): boolean {
  return at(payload, ...path) === true;
}

/** The text or number at a path as one trimmed line of limited length, or null. */
export function textAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  if (typeof value === "number" && !Number.isFinite(value)) return null;
  return typeof value === "string" || isNumber(value) ? printable(String(value)) : null;
}

/** The first line of the text at a path, at most 120 characters. */
export function firstLineAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  return typeof value === "string" ? firstLine(value, maxLineLength) : null;
}

/** The first line of a text as printable text, at most `maxLength` characters, or null if empty. */
export function firstLine(text: string, maxLength: number): string | null {
  if (isClean(text, maxLength)) return text;
  const [line = ""] = text
    .slice(0, maxLength * 8)
    .trim()
    .split(/[\r\n]/, 1);
  return printable(line, maxLength);
}

/** Whether the text needs no cleaning. True for nearly all text, and ten times faster than cleaning. */
function isClean(text: string, maxLength: number): boolean {
  return text.length <= maxLength && /^[!-~](?:[ -~]*[!-~])?$/.test(text);
}

/** Text on one line, without control characters, at most `maxLength` characters, or null if empty. */
export function printable(text: string, maxLength = maxTextLength): string | null {
  if (isClean(text, maxLength)) return text;
  // Truncated before cleaning, to bound the cost of huge texts.
  const clean = text
    .slice(0, maxLength * 4)
    .toWellFormed()
    .replaceAll(unprintable, " ")
    .trim();
  if (clean.length <= maxLength) return clean === "" ? null : clean;
  // Truncation can split a surrogate pair.
  return `${clean.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Joins the parts that are not null, as printable text of limited length. */
export function joined(separator: string, ...parts: readonly (string | null)[]): string {
  return printable(parts.filter((part) => part !== null).join(separator)) ?? "";
}

/** The id at a path, a whole number or a text, or null; see `idOf`. */
export function idAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  if (isNumber(value) && !/^-?\d+$/.test(String(value))) return null;
  return typeof value === "string" || isNumber(value) ? idOf(String(value)) : null;
}

/**
 * Returns `text` if it is a valid id: 1 to 200 visible ASCII characters. Otherwise null: two long ids
 * could be equal after truncation.
 */
export function idOf(text: string | null): string | null {
  return text !== null && /^[\x21-\x7e]{1,200}$/.test(text) ? text : null;
}

/** The first 12 digits of a commit hash, or null if `text` is not a hash. */
export function shortHash(text: string | null): string | null {
  return text !== null && /^[0-9a-f]{7,64}$/i.test(text) ? text.slice(0, 12) : null;
}

/** The http or https URL at a path, or null. Other schemes must not become links. */
export function urlAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  return typeof value === "string" ? webUrl(value) : null;
}

/** Returns `text` as an http or https URL, or null if it is not one. */
export function webUrl(text: string): string | null {
  if (text.length > maxUrlLength || !/^https?:\/\//i.test(text)) return null;
  const url = URL.parse(text);
  // `https://bank.example@evil.example/` looks like a link to bank.example.
  if (url === null || url.username !== "" || url.password !== "") return null;
  // Percent-encoding can make the URL longer.
  return url.href.length <= maxUrlLength ? url.href : null;
}

/** The ISO 8601 time at a path, or null. A time without an offset is ambiguous and returns null. */
export function isoTimeAt(payload: unknown, ...path: readonly string[]): Date | null {
  const value = at(payload, ...path);
  return typeof value === "string" ? validTime(isoTime(value)?.getTime() ?? Number.NaN) : null;
}

/** The time at a path in seconds since the epoch, with or without a fraction, or null. */
export function unixSecondsAt(payload: unknown, ...path: readonly string[]): Date | null {
  const value = at(payload, ...path);
  return isNumber(value) ? validTime(Math.round(Number(value) * 1_000)) : null;
}

/** The time at a path in milliseconds since the epoch, or null. */
export function unixMillisAt(payload: unknown, ...path: readonly string[]): Date | null {
  const value = at(payload, ...path);
  return isNumber(value) ? validTime(Math.round(Number(value))) : null;
}

/**
 * A time written in any usual way, or null: ISO 8601, or seconds or milliseconds since the epoch as a number or digits.
 * Without an offset it is UTC, as services that write none document (WooCommerce, Discord, Mailchimp). The years 2000 to 2100 differ in seconds and milliseconds, so the two cannot be confused.
 */
export function anyTime(value: unknown): Date | null {
  const isDigits = typeof value === "string" && /^\d{9,14}(?:\.\d{1,9})?$/.test(value);
  if (typeof value === "string" && !isDigits)
    return isoTimeAt({ value }, "value") ?? isoTimeAt({ value: `${value}Z` }, "value");
  const number = isNumber(value) || isDigits ? Number(value) : Number.NaN;
  return validTime(Math.round(number)) ?? validTime(Math.round(number * 1_000));
}

/** Rejects times outside the years 2000 to 2100. */
function validTime(ms: number): Date | null {
  const earliest = Date.UTC(2000, 0);
  const latest = Date.UTC(2100, 0);
  return ms >= earliest && ms < latest ? new Date(ms) : null;
}
