/** Formats JSON with an indentation of two spaces. Returns null if the bytes are not JSON or nested too deeply. */
export function prettyJson(bytes: Uint8Array): string | null {
  const value = printableJson(bytes);
  return value === undefined ? null : JSON.stringify(value, null, 2);
}

/** Each level indents all lines within it: 20 kB of brackets become 200 MB. */
const maxDepth = 16;

/** Parses JSON that is safe to print with indentation. Returns undefined if it is not JSON or nested too deeply. */
export function printableJson(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder().decode(bytes);
    const value: unknown = JSON.parse(text);
    // Runs after parsing: on an unterminated string the pattern in `depthOf` takes quadratic time.
    return depthOf(text) > maxDepth ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The nesting depth of objects and arrays in JSON. Ignores brackets in strings. */
function depthOf(json: string): number {
  let [depth, deepest] = [0, 0];
  for (const [part] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[{]|[\]}]/gs)) {
    if (part.length > 1) continue;
    depth += part === "[" || part === "{" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
