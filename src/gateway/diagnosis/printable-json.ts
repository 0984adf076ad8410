/** JSON as people read it, by two spaces; null when the bytes are none, or nested too deeply. */
export function prettyJson(bytes: Uint8Array): string | null {
  const value = printableJson(bytes);
  return value === undefined ? null : JSON.stringify(value, null, 2);
}

/** Indented, each level makes every line in it longer: 20 kB of brackets become 200 MB. */
const maxDepth = 16;

/** The value of JSON that can be printed with indentation; undefined when it is none, or too deep. */
export function printableJson(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder().decode(bytes);
    const value: unknown = JSON.parse(text);
    // Only of what is JSON: a string that never ends takes the pattern below quadratic time.
    return depthOf(text) > maxDepth ? undefined : value;
  } catch {
    return undefined;
  }
}

/** How deeply objects and lists are nested in JSON, brackets in strings aside. */
function depthOf(json: string): number {
  let [depth, deepest] = [0, 0];
  for (const [part] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/gs)) {
    if (part.length > 1) continue;
    depth += part === "[" || part === "{" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
