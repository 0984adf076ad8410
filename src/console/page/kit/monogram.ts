/** The tints of the style sheet. */
const tints = 7;

/**
 * The mark of a provider by its name: two initials in a colour. A test compares those of all services of the catalogue.
 */
export function monogramOf(name: string): { readonly initials: string; readonly tint: number } {
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== "");
  const [first = "?", second] = words.map((word) => Array.from(word));
  const sum = Array.from(name, (letter) => letter.codePointAt(0) ?? 0).reduce((a, b) => a + b, 0);
  return {
    initials: (first[0] ?? "").toUpperCase() + (second?.[0]?.toUpperCase() ?? first[1] ?? ""),
    tint: (sum % tints) + 1,
  };
}
