import { isNumber } from "./json.ts";

/** What a place is looked up in. */
export interface PlaceSource {
  readonly headers: Pick<Headers, "get">;
  /** The URL as the provider knows it. */
  readonly url: string;
  /** The parsed payload; undefined if it cannot be parsed. */
  readonly payload: () => unknown;
  /** The whole payload, if `payload` is one of its items. */
  readonly delivery?: () => unknown;
}

/** Finds a value in a request; undefined if it is not there. */
export type Lookup = (source: PlaceSource) => unknown;

/** The prefix of a JSON pointer into the whole payload, where others are relative to an item. */
export const deliveryPrefix = "delivery/";

/** A place in a request. */
export const placePattern =
  "^(?:header\\.[a-z0-9][a-z0-9_-]{0,99}|query\\.[A-Za-z0-9][A-Za-z0-9_.-]{0,99}|payload|/.{0,200})$";
/** A place in an event: of a delivery with several items, `delivery/…` is a place in the whole payload. */
export const eventPlacePattern = placePattern.replace("/.{0,200}", "(?:delivery)?/.{0,200}");

export type Places = string | readonly string[];

export function oneOrMore(places: Places | undefined): readonly string[] {
  if (places === undefined) return [];
  return typeof places === "string" ? [places] : places;
}

/**
 * Compiles a place: `header.NAME`, `query.NAME`, a JSON pointer (RFC 6901), one after `delivery`, or `payload`. Of several, the
 * first that is there.
 */
export function lookup(place: Places): Lookup {
  if (typeof place !== "string") {
    const finds = place.map(lookup);
    return (source) => {
      for (const find of finds) {
        const value = find(source);
        if (value !== undefined) return value;
      }
      return undefined;
    };
  }
  if (place === "payload") return ({ payload }) => payload();
  if (place.startsWith(deliveryPrefix)) {
    const keys = pointerKeys(place);
    return ({ payload, delivery = payload }) => valueAt(delivery(), keys);
  }
  if (place.startsWith("/")) {
    const keys = pointerKeys(place);
    return ({ payload }) => valueAt(payload(), keys);
  }
  const name = place.slice(place.indexOf(".") + 1);
  if (place.startsWith("header.")) return ({ headers }) => headers.get(name) ?? undefined;
  return ({ url }) => queryOf(url).get(name) ?? undefined;
}

/** The value at a place as exact text, without cleaning; null for anything but text, numbers and booleans. */
export function exactText(value: unknown): string | null {
  if (typeof value === "string") return value;
  // What was sent, such as 1e400, is not known.
  if (value === Infinity || value === -Infinity) return null;
  return isNumber(value) || typeof value === "boolean" ? String(value) : null;
}

/** Places and their values: `*` at the end of a value stands for any text. */
export type Condition = Readonly<Record<string, string>>;

/** Compiles a condition: whether a request has all of its values. */
export function condition(wanted: Condition): (source: PlaceSource) => boolean {
  const places = Object.entries(wanted).map(([place, value]) => ({ find: lookup(place), value }));
  return (source) =>
    places.every(({ find, value }) => {
      const found = exactText(find(source));
      if (found === null || !value.endsWith("*")) return found === value;
      return found.length >= value.length && found.startsWith(value.slice(0, -1));
    });
}

/** The keys of a JSON pointer (RFC 6901). */
export function pointerKeys(pointer: string): readonly string[] {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at a path of own keys of objects and indexes of arrays, or undefined. */
export function valueAt(payload: unknown, keys: readonly string[]): unknown {
  let value = payload;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !isOwn(value, key)) return undefined;
    // Guarantee: the object has this key of its own. Own keys of arrays are their indexes and `length`.
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

function isOwn(value: object, key: string): boolean {
  return Object.hasOwn(value, key) && !(Array.isArray(value) && key === "length");
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
}
