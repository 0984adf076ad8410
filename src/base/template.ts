import { Hint, Type } from "@sinclair/typebox";

import { nodeCrypto } from "./crypto.ts";
import { type ServiceDecimals, unitsText } from "./money.ts";
import { nearest } from "./nearest.ts";
import { firstLine, isObject } from "./payload.ts";
import {
  deliveryPrefix,
  eventPlacePattern,
  exactText,
  type Lookup,
  lookup,
  type PlaceSource,
  pointerKeys,
} from "./place.ts";

// Templates of provider files and destinations: fixed text, values, defaults and a short list of filters. No loops, no
// expressions, no regular expressions of users. The work is bounded by the length of the template and of the values.

const maxTemplateLength = 500;

/** The schema of a template in a provider file. Its hint is the mode, which is not published. */
export function templateSchema(description: string, mode: TemplateMode = "line") {
  const schema = Type.String({ minLength: 1, maxLength: maxTemplateLength, description });
  return { ...schema, [Hint]: mode };
}

/** What a template is rendered with. */
export interface TemplateContext {
  readonly source: PlaceSource;
  /** The service's name of the event. */
  readonly event: string;
  /** Skyhook's name of the event. */
  readonly type: string;
  /** How the service counts currencies. */
  readonly decimals: ServiceDecimals;
  /** The provider's secret, for handshakes only. */
  readonly secret?: string;
  /** The only texts that the signing filters sign; undefined: any. */
  readonly signable?: RegExp;
}

/**
 * How values become text. `line`: one printable line. `url`: as `line`, percent-encoded after fixed text. `exact`: as sent, for
 * answers to the service.
 */
export const templateModes = ["line", "url", "exact"] as const;
export type TemplateMode = (typeof templateModes)[number];

export interface Template {
  readonly render: (context: TemplateContext) => Rendered;
  /** The places that it reads. */
  readonly places: readonly string[];
}

export interface Rendered {
  readonly text: string;
  /** Whether all values outside of brackets were there. */
  readonly isWhole: boolean;
}

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly find: FindText; readonly places: readonly string[] }
  | { readonly kind: "optional"; readonly parts: readonly Part[] };

type FindText = (context: TemplateContext) => string | null;
type FindValue = (context: TemplateContext) => unknown;

const maxValueLength = 120;
/** The length of a value that is echoed to the service. */
export const maxEchoLength = 1_000;

/** Compiles a template. Throws an error that says what to write instead. */
export function template(text: string, mode: TemplateMode = "line"): Template {
  const parts = partsOf(text, mode);
  return { render: (context) => rendered(parts, context, mode), places: placesIn(parts) };
}

function placesIn(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.kind === "optional") return placesIn(part.parts);
    return part.kind === "value" ? part.places : [];
  });
}

function rendered(parts: readonly Part[], context: TemplateContext, mode: TemplateMode): Rendered {
  let text = "";
  let isWhole = true;
  for (const part of parts) {
    if (part.kind === "text") text += part.text;
    else if (part.kind === "value") {
      const value = part.find(context);
      if (value === null) isWhole = false;
      // A value at the start can be a whole URL.
      else text += mode === "url" && text !== "" ? encodeURIComponent(value.toWellFormed()) : value;
    } else {
      const inner = rendered(part.parts, context, mode);
      if (!inner.isWhole) continue;
      const isEncoded = mode === "url" && text !== "" && part.parts[0]?.kind === "value";
      text += isEncoded ? encodeURIComponent(inner.text.toWellFormed()) : inner.text;
    }
  }
  return { text, isWhole };
}

/** Splits a template into marks: doubled characters, values, brackets, and text. */
const marks = /\{\{|\}\}|\[\[|\]\]|\{(?:"[^"]*"|[^{}"])*\}|[[\]]|[^{}[\]]+|[{}]/g;

function partsOf(template: string, mode: TemplateMode): readonly Part[] {
  const outer: Part[] = [];
  let optional: Part[] | null = null;
  for (const [mark] of template.matchAll(marks)) {
    const current: Part[] = optional ?? outer;
    if (mark === "{" || mark === "}") {
      throw new Error(
        `"${template}" has a single "${mark}": write "${mark}${mark}", or close the value`,
      );
    }
    if (mark === "[") {
      if (optional !== null) throw new Error(`"${template}" has brackets within brackets`);
      optional = [];
    } else if (mark === "]") {
      if (optional === null) throw new Error(`"${template}" has a single "]": write "]]"`);
      if (!optional.some(({ kind }) => kind === "value")) {
        throw new Error(`"${template}" has brackets without a value: write "[[" for the character`);
      }
      outer.push({ kind: "optional", parts: optional });
      optional = null;
    } else if (mark.startsWith("{") && mark !== "{{") {
      current.push(valuePart(mark.slice(1, -1), mode));
    } else {
      const isDoubled = /^(?:\{\{|\}\}|\[\[|\]\])$/.test(mark);
      current.push({ kind: "text", text: isDoubled ? mark.slice(1) : mark });
    }
  }
  if (optional !== null) throw new Error(`"${template}" has a single "[": write "[["`);
  return outer;
}

/** `a ?? b ?? "text" | filter | filter place` */
function valuePart(text: string, mode: TemplateMode): Part {
  const [operands = "", ...filterNames] = split(text, "|");
  const finders = split(operands, "??").map((operand) => finder(operand.trim(), mode));
  const applied = filterNames.map((name) => filterOf(name.trim(), mode));
  const filters = applied.map(({ filter }) => filter);
  const find = (context: TemplateContext): string | null => {
    for (const finder of finders) {
      let value = finder.find(context);
      for (const filter of filters) value = filter(value, context, finder.place);
      const found = mode === "exact" ? exactText(value) : lineOf(value);
      if (found !== null) return found;
    }
    return null;
  };
  const places = [...finders, ...applied].flatMap(({ place }) => place ?? []);
  return { kind: "value", find, places };
}

/** Splits at a separator outside of quotes. */
function split(text: string, separator: "|" | "??"): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const [mark] of text.matchAll(/"[^"]*"|\?\?|[\s\S]/g)) {
    if (mark === separator) {
      pieces.push(piece);
      piece = "";
    } else piece += mark;
  }
  return [...pieces, piece];
}

interface Finder {
  readonly find: FindValue;
  readonly place: string | null;
}

const isPlace = new RegExp(eventPlacePattern);

function finder(operand: string, mode: TemplateMode): Finder {
  if (operand === "event") return { find: ({ event }) => event, place: null };
  if (operand === "type") return { find: ({ type }) => type, place: null };
  const [, quoted] = /^"([^"]*)"$/.exec(operand) ?? [];
  if (quoted !== undefined) return { find: () => quoted, place: null };
  if (!isPlace.test(operand)) {
    throw new Error(
      `"{${operand}}" is no value: write a JSON pointer such as {/${operand.replaceAll(".", "/")}}, {header.x-name}, {event}, {type} or {"text"}`,
    );
  }
  if (mode === "exact" && operand.startsWith(deliveryPrefix)) {
    const pointer = operand.slice(deliveryPrefix.length - 1);
    throw new Error(`"{${operand}}" is only for events: write {${pointer}}`);
  }
  const find = lookup(operand);
  return { find: ({ source }) => find(source), place: operand };
}

/** One printable line of a text, number or boolean; null for anything else and for empty text. */
function lineOf(value: unknown): string | null {
  const text = exactText(value);
  return text === null ? null : firstLine(text, maxValueLength);
}

/** `place`: where the value was looked up; null for fixed text. */
type Filter = (value: unknown, context: TemplateContext, place: string | null) => unknown;

const ofText =
  (change: (text: string) => string): Filter =>
  (value) => {
    const text = lineOf(value);
    return text === null ? null : change(text);
  };

const filters: Readonly<Record<string, Filter>> = {
  lower: ofText((text) => text.toLowerCase()),
  upper: ofText((text) => text.toUpperCase()),
  unescape: ofText((text) =>
    text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
  ),
  words: ofText((text) => text.replaceAll(/[_.-]+/g, " ").trim()),
  short: ofText((text) => text.slice(0, 12)),
  last: ofText((text) => text.replace(/\/+$/, "").split("/").at(-1) ?? text),
  key: (value, _, place) => ((value ?? null) === null ? null : pointerKeys(place ?? "").at(-1)),
  count: (value) => {
    // Listing the keys of a huge array would take much memory.
    if (Array.isArray(value)) return value.length;
    return isObject(value) ? keyCount(value) : null;
  },
};

const keyCounts = new WeakMap<object, number>();

/** Counted once: all items of a delivery can ask for the same object, and counting a huge one takes 10 ms or more. */
function keyCount(value: object): number {
  const count = keyCounts.get(value) ?? Object.keys(value).length;
  keyCounts.set(value, count);
  return count;
}

/** Only in answers to handshakes: they sign what the service sends, to prove that the secret is known. */
const signingFilters: Readonly<Record<string, Filter>> = {
  hmacSha256Hex: (value, context) => mac(value, context, "hex"),
  hmacSha256Base64: (value, context) => mac(value, context, "base64"),
};

function mac(
  value: unknown,
  { secret, signable = /^/ }: TemplateContext,
  encoding: "hex" | "base64",
): string | null {
  const text = exactText(value);
  if (text === null || secret === undefined || text.length > maxEchoLength) return null;
  if (!signable.test(text)) return null;
  return nodeCrypto().createHmac("sha256", secret).update(text).digest(encoding);
}

/** A filter as a template names it, with the place of its argument. */
interface Applied {
  readonly filter: Filter;
  readonly place: string | null;
}

function filterOf(text: string, mode: TemplateMode): Applied {
  const [name = "", argument = "", ...more] = text.split(/\s+/);
  const isMoney = name === "money";
  if (name === "cents" || (isMoney && (!isPlace.test(argument) || more.length > 0))) {
    throw new Error(`Write "| money /currency", with the place of the amount's currency`);
  }
  if (isMoney) return { filter: money(lookup(argument)), place: argument };
  if (argument !== "") throw new Error(`The filter "${name}" has no argument: write "| ${name}"`);
  return { filter: plainFilter(name, mode), place: null };
}

/** The amount in the minor units of its currency, as `EUR 42.00`. Some services send it as text. */
function money(currencyAt: Lookup): Filter {
  return (value, { source, decimals }) => {
    const text = exactText(value) ?? "";
    // `Number` also reads white space, hexadecimal digits and exponents.
    const units = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    const currency = lineOf(currencyAt(source))?.toUpperCase() ?? "";
    return Number.isSafeInteger(units) && currency !== ""
      ? unitsText(units, currency, decimals)
      : null;
  };
}

function plainFilter(name: string, mode: TemplateMode): Filter {
  const known = mode === "exact" ? { ...filters, ...signingFilters } : filters;
  const filter = Object.hasOwn(known, name) ? known[name] : undefined;
  if (filter !== undefined) return filter;
  if (Object.hasOwn(signingFilters, name)) {
    throw new Error(`The filter "${name}" is only for answers to handshakes`);
  }
  const near = nearest(name, Object.keys(known));
  const hint =
    near === null
      ? `Known: ${[...Object.keys(known), "money"].join(", ")}`
      : `Did you mean "${near}"?`;
  throw new Error(`There is no filter "${name}". ${hint}`);
}
