import { membersOf } from "../../base/json-text.ts";
import { parseJson } from "../../base/json.ts";
import { pointerKeys } from "../../base/place.ts";

// Removes a byte order mark, and throws on invalid UTF-8.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads what JSON pointers (RFC 6901) name, and skips the rest: parsing a megabyte that anyone sent can block the event
 * loop for 100 ms. The result has the same text, numbers and booleans at these pointers as the parsed
 * document; objects and arrays at their ends are empty. Undefined where the bytes are not JSON; not every error is
 * found in what is skipped.
 */
export function valuesAt(body: Uint8Array, pointers: readonly string[]): unknown {
  try {
    return read(utf8.decode(body), pointers.map(pointerKeys));
  } catch {
    return undefined;
  }
}

/** `paths`: the keys that lead to values which are read. */
function read(json: string, paths: readonly (readonly string[])[]): unknown {
  const isRead = paths.some(({ length }) => length === 0);
  if (!/^[ \t\n\r]*[[{]/.test(json)) return isRead ? parseJson(json) : undefined;
  // An own key for any name, "__proto__" too, as in a parsed document.
  const value: Record<string, unknown> = Object.create(null);
  for (const { name, text } of membersOf(json)) {
    const inner = paths.filter(([key]) => key === name).map(([, ...rest]) => rest);
    // Of equal keys the last one counts, as in a parsed document.
    if (inner.length > 0) value[name] = read(text, inner);
  }
  return value;
}
