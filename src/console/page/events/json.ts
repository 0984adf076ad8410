import { jsonToken } from "../../../base/json-text.ts";

/** Nesting beyond this is not formatted: indents grow with the square of the depth. */
export const maxDepth = 60;

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
  const tokens = text.match(jsonToken) ?? [];
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
