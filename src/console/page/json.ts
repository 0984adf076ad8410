/**
 * JSON with line breaks and indents, token for token: numbers and escapes stay as they were sent, which
 * parsing and printing would change. Null when the text is no JSON.
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
  return tokens
    .map((token) => {
      if (token === "{" || token === "[") {
        depth += 1;
        return token + line();
      }
      if (token === "}" || token === "]") {
        depth -= 1;
        return line() + token;
      }
      if (token === ",") return token + line();
      if (token === ":") return ": ";
      return token.startsWith("{") ? "{}" : token.startsWith("[") ? "[]" : token;
    })
    .join("");
}
