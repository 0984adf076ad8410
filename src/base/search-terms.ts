/** Words that follow each other. `isPrefix`: the last one is the beginning of a word. */
export interface SearchTerm {
  /** Of letters, digits and marks; or one `exactWord`. */
  readonly words: readonly string[];
  readonly isPrefix: boolean;
  /** Of a prefix: the words of the index that begin with it. */
  readonly lastWords?: readonly string[];
}

/**
 * Reads what a person types into a search box: words, "words in this order" and prefi*. All terms must match.
 * Everything else separates words, so any text is valid; without a word it is empty.
 */
export function parseSearch(text: string): readonly SearchTerm[] {
  return Array.from(text.matchAll(/"([^"]*)"?(\*?)|([^\s"]+)/gu), ([, phrase, star, plain]) => ({
    words: wordsOf(phrase ?? plain ?? ""),
    isPrefix: star === "*" || plain?.endsWith("*") === true,
  })).filter(({ words }) => words.length > 0);
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
}

/**
 * The word of the index that stands for the exact value of a column, so that a search by words and a column reads
 * one index. Long values are truncated. `kind`: a letter for the column.
 */
export function exactWord(kind: "p" | "t" | "a" | "s" | "v", value: string): SearchTerm {
  const start = Array.from(value).slice(0, 60).join("");
  return { words: [`=${kind}${Buffer.from(start).toString("hex")}`], isPrefix: false };
}
