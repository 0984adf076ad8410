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
  let name: string | null = null;
  for (let at = json.indexOf(open); at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === quote) at = stringEnd(json, at);
    else if (code === openBrace || code === openBracket) {
      if (depth === 0) start = at + 1;
      depth += 1;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
    if (code === colon && depth === 1 && isObject) {
      name = nameOf(json.slice(start, at));
      start = at + 1;
    }
    if (depth > 1 || (depth === 1 && code !== comma)) continue;
    const text = json.slice(start, at).trim();
    if (text !== "" && isObject === (name !== null)) {
      members.push({ name: name ?? String(members.length), text });
    } else if (text !== "" || code === comma || members.length > 0 || name !== null) break;
    name = null;
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
function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let before = end;
    while (json.charCodeAt(before - 1) === backslash) before -= 1;
    // An even number of backslashes are characters.
    if ((end - before) % 2 === 0) return end;
  }
  throw new SyntaxError("A string does not end");
}

/** Strings, empty brackets, punctuation, and everything else (numbers and literals). */
export const jsonToken = /"(?:[^"\\]|\\.)*"|\[\s*\]|\{\s*\}|[[\]{},:]|[^\s[\]{},:"]+/g;

/**
 * Formats JSON with line breaks and indents of two spaces. Null if the text is not JSON or is nested more deeply: each
 * level indents all lines within it, so that 20 kB of brackets become 200 MB.
 */
export function prettyJson(json: string, maxDepth = 16): string | null {
  try {
    // On an unterminated string the pattern takes quadratic time.
    JSON.parse(json);
  } catch {
    return null;
  }
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  let pretty = "";
  for (const part of json.match(jsonToken) ?? []) {
    if (part === "{" || part === "[") depth += 1;
    if (part === "}" || part === "]") depth -= 1;
    if (depth > maxDepth) return null;
    pretty += formatted(part, line);
  }
  return pretty;
}

/** `line`: a line break followed by the indent of the next line. */
function formatted(part: string, line: () => string): string {
  if (part === "{" || part === "[" || part === ",") return part + line();
  if (part === "}" || part === "]") return line() + part;
  if (part === ":") return ": ";
  return part.startsWith("{") ? "{}" : part.startsWith("[") ? "[]" : part;
}
