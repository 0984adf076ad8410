/** Nesting beyond this is not formatted: indents grow with the square of the depth. */
const maxDepth = 60;

/** Strings, empty brackets, punctuation, and everything else (numbers and literals). */
const token = /"(?:[^"\\]|\\.)*"|\[\s*\]|\{\s*\}|[[\]{},:]|[^\s[\]{},:"]+/g;

/** A value in JSON: its text exactly as sent, or its members. */
export type JsonNode =
  { readonly text: string } | { readonly isList: boolean; readonly members: readonly JsonMember[] };

/** A member of an object, or of a list, which has no `key`. */
export interface JsonMember {
  /** With its quotes, exactly as sent. */
  readonly key: string | null;
  readonly value: JsonNode;
}

/** Larger documents are shown as text: each value is an element of the page. */
const maxTokens = 20_000;

/** The values of a JSON text, to be folded. Null if it has too many, or is nested more than 60 levels deep. */
export function jsonTree(text: string): JsonNode | null {
  const tokens = text.match(token) ?? [];
  if (tokens.length > maxTokens) return null;
  let at = 0;

  function read(depth: number): JsonNode | null {
    const part = tokens[at] ?? "";
    at += 1;
    if (part !== "{" && part !== "[") return { text: part.replaceAll(/^([[{])\s+/g, "$1") };
    if (depth === maxDepth) return null;
    const members: JsonMember[] = [];
    while (at < tokens.length && tokens[at] !== "}" && tokens[at] !== "]") {
      const key = part === "{" ? (tokens[at] ?? "") : null;
      // The key and its colon.
      if (key !== null) at += 2;
      const value = read(depth + 1);
      if (value === null) return null;
      members.push({ key, value });
      if (tokens[at] === ",") at += 1;
    }
    at += 1;
    return { isList: part === "[", members };
  }

  return read(0);
}

/**
 * Formats JSON with line breaks and indents. Works token by token, because parsing and printing would change
 * numbers and escapes. Null if the text is not JSON or is nested more than 60 levels deep.
 */
export function prettyJson(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  const tokens = text.match(token) ?? [];
  let pretty = "";
  for (const part of tokens) {
    if (part === "{" || part === "[") depth += 1;
    if (part === "}" || part === "]") depth -= 1;
    if (depth > maxDepth) return null;
    pretty += formatted(part, line());
  }
  return pretty;
}

/** `line`: a line break followed by the indent of the next line. */
function formatted(part: string, line: string): string {
  if (part === "{" || part === "[" || part === ",") return part + line;
  if (part === "}" || part === "]") return line + part;
  if (part === ":") return ": ";
  return part.startsWith("{") ? "{}" : part.startsWith("[") ? "[]" : part;
}
