import { membersOf } from "../../../../base/json-text.ts";

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
const maxValues = 10_000;

/** The values of JSON, to be folded. Null if it has too many, or is nested more than 60 levels deep. */
export function jsonTree(json: string): JsonNode | null {
  let count = 0;

  function read(text: string, depth: number): JsonNode | null {
    const found = membersOf(text);
    // Brackets without members are a text.
    if (found.length === 0) return { text: text.replace(/^([[{])\s+/, "$1") };
    count += found.length;
    if (depth === maxDepth || count > maxValues) return null;
    const members: JsonMember[] = [];
    for (const { key, text: inner } of found) {
      const value = read(inner, depth + 1);
      if (value === null) return null;
      members.push({ key, value });
    }
    return { isList: text.startsWith("["), members };
  }

  return read(json.trim(), 0);
}
