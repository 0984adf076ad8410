import { exactText, lookup, type PlaceSource, pointerKeys, valueAt } from "../../base/place.ts";

import { compactJson } from "./compact-json.ts";
import type { TextScheme } from "./scheme.schema.ts";

/** What a signed text is made of. */
interface SignedParts extends PlaceSource {
  readonly body: SignedBody;
  readonly method: string;
  /** As sent; empty if the scheme has no time. */
  readonly timestamp: string;
  /** Null if the request has none. */
  readonly id: string | null;
  readonly secret: string;
}

/** A body, and its compact JSON, which is made at most once. */
export interface SignedBody {
  readonly bytes: Uint8Array;
  readonly compact: () => Uint8Array;
}

export function signedBody(bytes: Uint8Array): SignedBody {
  let made: Uint8Array | null = null;
  return { bytes, compact: () => (made ??= compactJson(bytes)) };
}

export type Piece = string | Uint8Array;

/** One text that a signature may cover. */
export interface SignedText {
  /** The pieces of the text in order, or null if the request lacks a value that is signed. */
  readonly pieces: (parts: SignedParts) => readonly Piece[] | null;
  /** Whether it covers the body as compact JSON. */
  readonly isCompact: boolean;
  /** Whether it covers the bytes of the body. If not, other bodies can have the same text. */
  readonly coversBytes: boolean;
}

type PieceOf = (parts: SignedParts) => Piece | null;

/** The texts that a signature of the scheme may cover, in order of preference. */
export function signedTexts({ signs }: Pick<TextScheme, "signs">): readonly SignedText[] {
  if (typeof signs === "object" && "lines" in signs) {
    return [{ ...textOf([linesOf(signs.lines)]), isCompact: false, coversBytes: false }];
  }
  const templates = typeof signs === "string" ? [signs] : signs;
  return templates.map((template) => ({
    ...textOf(templateParts(template).map(pieceOf)),
    isCompact: template.includes("{compactJson}"),
    coversBytes: /\{(?:body|compactJson|bodySha256)\}/.test(template),
  }));
}

/** Whether a template covers the body by its form fields only. */
export function coversForm(template: string): boolean {
  return /\{(?:form|sortedForm)\}/.test(template) && !/\{(?:body|bodySha256)\}/.test(template);
}

function textOf(piecesOf: readonly PieceOf[]): Pick<SignedText, "pieces"> {
  const [first] = piecesOf;
  if (piecesOf.length === 1 && first !== undefined) {
    return { pieces: (parts) => alone(first(parts)) };
  }
  return { pieces: (parts) => merged(piecesOf, parts) };
}

function alone(piece: Piece | null): readonly Piece[] | null {
  return piece === null ? null : [piece];
}

/** Joins adjacent texts: each piece costs a call to the hash function. */
function merged(piecesOf: readonly PieceOf[], parts: SignedParts): readonly Piece[] | null {
  const pieces: Piece[] = [];
  let text = "";
  for (const pieceOf of piecesOf) {
    const piece = pieceOf(parts);
    if (piece === null) return null;
    if (typeof piece === "string") {
      text += piece;
      continue;
    }
    if (text !== "") pieces.push(text);
    text = "";
    pieces.push(piece);
  }
  if (text !== "") pieces.push(text);
  return pieces;
}

/** Fixed text, or the name of a value. */
type TemplatePart = { readonly text: string } | { readonly name: string };

/** Splits a template of a signed text. Throws an error with a message for people. */
export function templateParts(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let text = "";
  for (const [part] of template.matchAll(/\{\{|\}\}|\{[^{}]*\}|[\s\S]/gu)) {
    if (part === "{" || part === "}") {
      throw new Error(`"${template}" has a single "${part}": write "${part}${part}"`);
    }
    const isName = part.length > 2 || part === "{}";
    if (!isName) {
      // Twice the same brace stands for one.
      text += part[0];
      continue;
    }
    if (text !== "") parts.push({ text });
    text = "";
    parts.push({ name: part.slice(1, -1).trim() });
  }
  if (text !== "") parts.push({ text });
  return parts;
}

/** The names that need no place. */
export const signedNames = [
  "body",
  "compactJson",
  "bodySha256",
  "bodyCrc32",
  "method",
  "url",
  "urlWithPort",
  "urlWithoutPort",
  "path",
  "timestamp",
  "id",
  "secret",
  "form",
  "sortedForm",
] as const;
type SignedName = (typeof signedNames)[number];

const named: Readonly<Record<SignedName, PieceOf>> = {
  body: ({ body }) => body.bytes,
  compactJson: ({ body }) => body.compact(),
  bodySha256: ({ body }) => new Bun.CryptoHasher("sha256").update(body.bytes).digest("hex"),
  bodyCrc32: ({ body }) => String(Bun.hash.crc32(body.bytes)),
  method: ({ method }) => method,
  url: ({ url }) => url,
  urlWithPort: ({ url }) => withPort(url),
  urlWithoutPort: ({ url }) => url.replace(authority, "$1"),
  path: ({ url }) => pathOf(url),
  timestamp: ({ timestamp }) => timestamp,
  id: ({ id }) => id,
  secret: ({ secret }) => secret,
  form: ({ body }) => joined(fieldsOf(body.bytes)),
  sortedForm: ({ body }) => joined(sorted(fieldsOf(body.bytes))),
};

export function isSignedName(name: string): name is SignedName {
  return Object.hasOwn(named, name);
}

function pieceOf(part: TemplatePart): PieceOf {
  if ("text" in part) {
    const { text } = part;
    return () => text;
  }
  if (isSignedName(part.name)) return named[part.name];
  const { place, isOptional } = signedPlace(part.name);
  const find = lookup(place);
  return (parts) => exactText(find(parts)) ?? (isOptional ? "" : null);
}

/** The place of a name in a template; `/a ?? ""` is empty text if there is no value. */
export function signedPlace(name: string): {
  readonly place: string;
  readonly isOptional: boolean;
} {
  const place = name.replace(/ *\?\? *""$/, "");
  return { place, isOptional: place !== name };
}

/** `name\nvalue\n` for each member that is there: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html */
function linesOf(pointers: readonly string[]): PieceOf {
  const members = pointers.map((pointer) => {
    const keys = pointerKeys(pointer);
    return { name: keys.at(-1) ?? "", keys };
  });
  return ({ payload }) => {
    const root = payload();
    const lines = members.flatMap(({ name, keys }) => {
      const value = exactText(valueAt(root, keys));
      return value === null ? [] : [`${name}\n${value}\n`];
    });
    return lines.join("");
  };
}

/** The path of a URL, without its query. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?");
  if (start < 0) return "/";
  return url.slice(start, end < 0 ? undefined : end);
}

const authority = /^([^:]+:\/\/(?:\[[^\]]*\]|[^:/?#[]*))(:\d+)?/;

/** The URL as it is if it has a port, otherwise with the standard one. */
function withPort(url: string): string {
  const standard = url.startsWith("https:") ? ":443" : ":80";
  return url.replace(authority, (_, host: string, port = standard) => host + port);
}

type Field = readonly [name: string, value: string];

/** Form fields beyond this number are not read: their signature cannot be right. */
const maxFields = 1_000;

function fieldsOf(bytes: Uint8Array): readonly Field[] {
  const text = Buffer.from(bytes).toString();
  if (text.split("&", maxFields + 1).length > maxFields) return [];
  return [...new URLSearchParams(text)];
}

/** By name, then by value. A pair that is repeated counts once, as in the libraries of Twilio. */
function sorted(fields: readonly Field[]): readonly Field[] {
  const unique = new Map(
    fields.map(([name, value]) => [`${name}\0${value}`, [name, value] as const]),
  );
  return [...unique.values()].toSorted(
    ([one, first], [other, second]) => compare(one, other) || compare(first, second),
  );
}

/** By UTF-16 code units, as JavaScript sorts. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function joined(fields: readonly Field[]): string {
  return fields.map(([name, value]) => name + value).join("");
}
