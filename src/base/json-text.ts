// Reads JSON (RFC 8259) as text, where parsing and printing would change numbers, escapes and the order of members.

/** A member of an object, or an entry of an array with its index as name. */
export interface Member {
  readonly name: string;
  /** Its value, exactly as sent. */
  readonly text: string;
}

/** The members of valid JSON, in order; none if it is neither an object nor an array. */
export function membersOf(json: string): readonly Member[] {
  const members: Member[] = [];
  const isList = json.trimStart().startsWith("[");
  let [depth, start, name] = [0, 0, ""];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    const isOpening = character === "{" || character === "[";
    const isClosing = character === "}" || character === "]";
    if (character === '"') at = stringEnd(json, at);
    else if (isOpening && (depth += 1) === 1) start = at + 1;
    else if (depth === 1 && character === ":") {
      name = String(JSON.parse(json.slice(start, at)));
      start = at + 1;
    } else if (depth === 1 && (isClosing || character === ",")) {
      const text = json.slice(start, at).trim();
      if (text !== "") members.push({ name: isList ? String(members.length) : name, text });
      start = at + 1;
    }
    if (isClosing) depth -= 1;
  }
  return members;
}

/** The text of the value at a path of keys in valid JSON. */
export function textOfMember(json: string, ...path: readonly string[]): string | undefined {
  return path.reduce<string | undefined>(
    (text, key) => membersOf(text ?? "").findLast(({ name }) => name === key)?.text,
    json,
  );
}

/** Where a string ends, of which `start` is the first quote. */
export function stringEnd(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end;
}

/** Whether there is an odd number of backslashes before a position. */
function isEscaped(json: string, end: number): boolean {
  let before = end - 1;
  while (json[before] === "\\") before -= 1;
  return (end - before) % 2 === 0;
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
