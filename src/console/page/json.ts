/** Deeper than what anybody reads. */
const maxDepth = 60;

/**
 * JSON with line breaks and indents, token for token: numbers and escapes stay as they were sent, which
 * parsing and printing would change. Null when the text is no JSON, or nested so deeply that its indents
 * would be many times as long as itself.
 */
export function prettyJson(text: string): string | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  // Strings, empty brackets, marks, and whatever stands between them.
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|\[\s*\]|\{\s*\}|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
  let pretty = "";
  for (const part of tokens) {
    if (part === "{" || part === "[") depth += 1;
    if (part === "}" || part === "]") depth -= 1;
    if (depth > maxDepth) return null;
    pretty += printed(part, line());
  }
  return pretty;
}

/** `line` is a break and the indent of what follows. */
function printed(part: string, line: string): string {
  if (part === "{" || part === "[" || part === ",") return part + line;
  if (part === "}" || part === "]") return line + part;
  if (part === ":") return ": ";
  return part.startsWith("{") ? "{}" : part.startsWith("[") ? "[]" : part;
}
