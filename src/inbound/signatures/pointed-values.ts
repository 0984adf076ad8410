import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isWhiteSpace,
  openBrace,
  openBracket,
  quote,
} from "../../base/json-bytes.ts";
import { parseJson } from "../../base/json.ts";
import { pointerKeys } from "../../base/place.ts";

/** The keys below a member that lead to values which are read. A leaf is read itself. */
interface Wanted {
  readonly below: Map<string, Wanted>;
  isRead: boolean;
}

/** A part of the bytes: a value, and where it ends. */
interface Found {
  readonly value: unknown;
  readonly end: number;
}

class NotJson extends Error {}

/**
 * Reads what JSON pointers (RFC 6901) name, and skips the rest: parsing a megabyte that anyone sent can block the event
 * loop for 100 ms, skipping it 5. The result has the same text, numbers and booleans at these pointers as the parsed
 * document; objects and arrays at their ends are empty. Undefined where the bytes are not JSON; not every error is
 * found in what is skipped.
 */
export function valuesAt(body: Uint8Array, pointers: readonly string[]): unknown {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const root: Wanted = { below: new Map(), isRead: false };
  for (const pointer of pointers) want(root, pointerKeys(pointer));
  try {
    const { value, end } = read(bytes, afterSpace(bytes, afterBom(bytes)), root);
    return afterSpace(bytes, end) === bytes.length ? value : undefined;
  } catch {
    return undefined;
  }
}

function want(root: Wanted, keys: readonly string[]): void {
  let wanted = root;
  for (const key of keys) {
    const next = wanted.below.get(key) ?? { below: new Map(), isRead: false };
    wanted.below.set(key, next);
    wanted = next;
  }
  wanted.isRead = true;
}

function read(bytes: Buffer, start: number, wanted: Wanted): Found {
  const first = bytes[start];
  if (first === openBrace) return readMembers(bytes, start, wanted, memberKey);
  if (first === openBracket) return readMembers(bytes, start, wanted, null);
  const end = skip(bytes, start);
  return { value: wanted.isRead ? parsed(bytes, start, end) : undefined, end };
}

/** Reads an object, or an array, whose keys are its indexes. `keyAt`: null for an array. */
function readMembers(
  bytes: Buffer,
  start: number,
  { below }: Wanted,
  keyAt: typeof memberKey | null,
): Found {
  const close = keyAt === null ? closeBracket : closeBrace;
  // An own key for any name, "__proto__" too, as in a parsed document.
  const value: Record<string, unknown> = Object.create(null);
  let at = afterSpace(bytes, start + 1);
  if (bytes[at] === close) return { value, end: at + 1 };
  for (let index = 0; ; index += 1) {
    let key = `${index}`;
    if (keyAt !== null) {
      const keyEnd = skip(bytes, at);
      key = keyAt(bytes, at, keyEnd);
      at = afterSpace(bytes, expect(bytes, afterSpace(bytes, keyEnd), colon));
    }
    const wanted = below.get(key);
    if (wanted === undefined) {
      at = skip(bytes, at);
    } else {
      // Of equal keys the last one counts, as in a parsed document.
      const found = read(bytes, at, wanted);
      value[key] = found.value;
      at = found.end;
    }
    at = afterSpace(bytes, at);
    if (bytes[at] === close) return { value, end: at + 1 };
    at = afterSpace(bytes, expect(bytes, at, comma));
  }
}

function memberKey(bytes: Buffer, start: number, end: number): string {
  if (bytes[start] !== quote) throw new NotJson();
  const text = bytes.toString("utf8", start + 1, end - 1);
  return text.includes("\\") ? String(JSON.parse(`"${text}"`)) : text;
}

/** Where a value ends. Brackets are counted, not matched. */
function skip(bytes: Buffer, start: number): number {
  const length = bytes.length;
  let depth = 0;
  let at = start;
  do {
    const byte = bytes[at];
    at += 1;
    if (byte === undefined) throw new NotJson();
    if (byte === quote) {
      at = stringEnd(bytes, at);
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
    } else if (depth === 0) {
      while (at < length && !endsLiteral(bytes[at] ?? 0)) at += 1;
    }
  } while (depth > 0);
  if (depth < 0) throw new NotJson();
  return at;
}

/** The end of a string of which `start` is the first character. */
function stringEnd(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    if (byte === backslash) at += 1;
  }
  throw new NotJson();
}

function parsed(bytes: Buffer, start: number, end: number): unknown {
  return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(start, end)));
}

function expect(bytes: Buffer, at: number, byte: number): number {
  if (bytes[at] !== byte) throw new NotJson();
  return at + 1;
}

/** A parsed document may begin with a byte order mark, since `TextDecoder` removes it. */
function afterBom(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function afterSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (isWhiteSpace(bytes[at] ?? 0)) at += 1;
  return at;
}

function endsLiteral(byte: number): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || isWhiteSpace(byte);
}
