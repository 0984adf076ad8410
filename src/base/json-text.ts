// Reads JSON (RFC 8259) as text, where parsing and printing would change numbers, escapes and the order of members.

import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
} from "./json-bytes.ts";

/** A member of an object, or an entry of an array with its index as name. */
export interface Member {
  readonly name: string;
  /** The name with its quotes, exactly as sent; null in an array. */
  readonly key: string | null;
  /** Its value, exactly as sent. */
  readonly text: string;
}

/**
 * The members of JSON, in order; none if it is neither an object nor an array. Throws where it is not JSON; not every
 * error is found in the values, which are skipped.
 */
export function membersOf(json: string): readonly Member[] {
  const [open = ""] = /[^ \t\n\r]/.exec(json) ?? [];
  if (open !== "{" && open !== "[") return [];
  const [isObject, close] = [open === "{", open === "{" ? closeBrace : closeBracket];
  const members: Member[] = [];
  let depth = 0;
  let start = 0;
  let key: string | null = null;
  for (let at = json.indexOf(open); at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = stringEnd(json, at);
    else if (code === openBrace || code === openBracket) {
      if (depth === 0) start = at + 1;
      depth += 1;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
    if (code === colon && depth === 1 && isObject) {
      key = json.slice(start, at).trim();
      start = at + 1;
    }
    if (depth > 1 || (depth === 1 && code !== comma)) continue;
    const text = json.slice(start, at).trim();
    if (text !== "" && isObject === (key !== null)) {
      members.push({ name: key === null ? String(members.length) : nameOf(key), key, text });
    } else if (text !== "" || code === comma || members.length > 0 || key !== null) break;
    key = null;
    start = at + 1;
    if (depth === 1) continue;
    if (code === close && json.slice(start).trim() === "") return members;
    break;
  }
  throw new SyntaxError("This is not JSON");
}

function nameOf(json: string): string {
  if (json.startsWith('"') && json.indexOf('"', 1) === json.length - 1 && !json.includes("\\"))
    return json.slice(1, -1);
  const name: unknown = JSON.parse(json);
  if (typeof name === "string") return name;
  throw new SyntaxError("A name is a text");
}

/** The last quote of a string of which `start` is the first. */
export function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json.charCodeAt(before - 1) === backslash) before -= 1;
    // An even number of backslashes are characters.
    if ((end - before) % 2 === 0) return end;
  }
  throw new SyntaxError("A string does not end");
}

/**
 * Formats JSON with line breaks and indents of two spaces. Null if the text is not JSON or is nested more deeply: each
 * level indents all lines within it, so that 20 kB of brackets become 200 MB.
 */
export function prettyJson(json: string, maxDepth = 16): string | null {
  try {
    JSON.parse(json);
    return indented(json.trim(), maxDepth, "\n");
  } catch {
    return null;
  }
}

/** `newline`: a line break followed by the indent of the value. Throws beyond `depth`. */
function indented(json: string, depth: number, newline: string): string {
  if (!json.startsWith("{") && !json.startsWith("[")) return json;
  const members = membersOf(json);
  if (members.length === 0) return `${json[0]}${json.at(-1)}`;
  if (depth === 0) throw new RangeError("This is nested too deeply");
  const inner = `${newline}  `;
  const lines = members.map(
    ({ key, text }) => inner + (key === null ? "" : `${key}: `) + indented(text, depth - 1, inner),
  );
  return `${json[0]}${lines.join(",")}${newline}${json.at(-1)}`;
}
