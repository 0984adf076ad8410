/** Nesting beyond this is not formatted: indents grow with the square of the depth. */
const maxDepth = 60;

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
  // Strings, empty brackets, punctuation, and everything else (numbers and literals).
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|\[\s*\]|\{\s*\}|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
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
