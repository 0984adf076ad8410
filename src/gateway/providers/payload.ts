import type { EventData } from "../event.ts";

import type { JsonObject } from "./provider.ts";

// Readers for payloads that may hold anything: each answers null rather than throw, caps what it
// copies, and leaves control characters out, so that what is stored is safe to print.

const maxTextLength = 500;
const maxLineLength = 120;
const maxTypeLength = 80;
const maxUrlLength = 2_048;
/** Entries of a list that are looked at. */
const maxItems = 100;

/** Control characters, line and paragraph separators, and everything that changes the direction. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

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

/** The first entries of the list at a path; none when there is no list. */
export function itemsAt(payload: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = at(payload, ...path);
  return Array.isArray(value) ? value.slice(0, maxItems) : [];
}

/** Whether the value at a path is `true` itself. */
export function isTrueAt(payload: unknown, ...path: readonly string[]): boolean {
  return at(payload, ...path) === true;
}

/** The text at a path on one line, trimmed and capped; numbers as text; null when there is none. */
export function textAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" ? printable(value) : null;
}

/** The first line of the text at a path, at most 120 characters. */
export function firstLineAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  if (typeof value !== "string") return null;
  if (isClean(value, maxLineLength)) return value;
  const [line = ""] = value
    .slice(0, maxLineLength * 8)
    .trim()
    .split(/[\r\n]/, 1);
  return printable(line, maxLineLength);
}

/** Nearly all text needs no cleaning, and knowing so is ten times faster than cleaning it. */
function isClean(text: string, maxLength: number): boolean {
  return text.length <= maxLength && /^[!-~](?:[ -~]*[!-~])?$/.test(text);
}

/** Text on one line, without control characters, at most `maxLength` characters; null when empty. */
export function printable(text: string, maxLength = maxTextLength): string | null {
  if (isClean(text, maxLength)) return text;
  // Cut before cleaning, so that a huge text costs no more than a small one.
  const clean = text
    .slice(0, maxLength * 4)
    .toWellFormed()
    .replaceAll(unprintable, " ")
    .trim();
  if (clean.length <= maxLength) return clean === "" ? null : clean;
  // A cut can leave the first half of a surrogate pair.
  return `${clean.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Joins the parts that are there, capped. */
export function joined(separator: string, ...parts: readonly (string | null)[]): string {
  return printable(parts.filter((part) => part !== null).join(separator)) ?? "";
}

/** The id at a path, a whole number or a text, or null; see `idOf`. */
export function idAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" ? idOf(value) : null;
}

/**
 * `text` when it can serve as an id: 1 to 200 visible ASCII characters. Others become null and are
 * never cut, since two long ids could be equal after a cut.
 */
export function idOf(text: string | null): string | null {
  return text !== null && /^[\x21-\x7e]{1,200}$/.test(text) ? text : null;
}

/** The first 12 digits of a commit's hash; null when `text` is no hash. */
export function shortHash(text: string | null): string | null {
  return text !== null && /^[0-9a-f]{7,64}$/i.test(text) ? text.slice(0, 12) : null;
}

/** Members in which payloads name their event. */
const nameMembers = ["type", "event_name", "event"] as const;

/** What a payload calls its event: the name that is in `listed`, wherever it is; else its `member`, or null. */
export function eventNameAt(
  payload: JsonObject,
  member: (typeof nameMembers)[number],
  listed: ReadonlyMap<string | null, unknown>,
): string | null {
  const names = [member, ...nameMembers].map((name) => textAt(payload, name));
  return names.find((name) => listed.has(name)) ?? names[0] ?? null;
}

/** The service's names for listed events, with ours for them; ours name the same events. */
export function listing(
  names: Readonly<Record<string, string>>,
): ReadonlyMap<string | null, string> {
  const own = Object.values(names).map((name) => [name, name] as const);
  return new Map([...Object.entries(names), ...own]);
}

/** A provider's own name for an event, fit to be a type; `unknown` when there is none. */
export function typeName(name: string | null): string {
  if (name === null || name === "") return "unknown";
  return name.slice(0, maxTypeLength).replaceAll(/[^\w.:-]+/g, "-");
}

/** The title of an event that its provider does not list. `about`: a few words, where there are any. */
export function ignoredTitle(type: string, about: string | null = null): string {
  return joined(" ", `Ignored: ${type}`, about && `(${about})`);
}

/** The http or https URL at a path, or null: nothing else may become a link. */
export function urlAt(payload: unknown, ...path: readonly string[]): string | null {
  const value = at(payload, ...path);
  return typeof value === "string" ? webUrl(value) : null;
}

/** `text` when it is an http or https URL, else null. */
export function webUrl(text: string): string | null {
  if (text.length > maxUrlLength || !/^https?:\/\//i.test(text)) return null;
  const url = URL.parse(text);
  // `https://bank.example@evil.example/` reads like a link to the wrong one of the two.
  if (url === null || url.username !== "" || url.password !== "") return null;
  // Percent-encoding makes some URLs longer than they were.
  return url.href.length <= maxUrlLength ? url.href : null;
}

/** The ISO 8601 time at a path, or null. Without an offset it names no moment and is null too. */
export function isoTimeAt(payload: unknown, ...path: readonly string[]): Date | null {
  const value = at(payload, ...path);
  if (typeof value !== "string") return null;
  const isMoment = /^\d{4}-\d{2}-\d{2}T[\d:.]{5,20}(?:Z|[+-]\d{2}:\d{2})$/.test(value);
  return isMoment ? validTime(Date.parse(value)) : null;
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
