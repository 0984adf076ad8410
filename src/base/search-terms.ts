/** Words that follow each other. `isPrefix`: the last one is the beginning of a word. */
export interface SearchTerm {
  /** From `wordsIn`; or one `exactWord`. */
  readonly words: readonly string[];
  readonly isPrefix: boolean;
  /** For a prefix, the indexed words that begin with it. */
  readonly lastWords?: readonly string[];
}

/** In these scripts, nothing separates words, so each character is a word and a search for several is a phrase. */
const unseparated =
  /[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Bopo}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{N}\p{M}]]/v;
const word = new RegExp(
  `${unseparated.source}|[[\\p{L}\\p{N}]--${unseparated.source}][[\\p{L}\\p{N}\\p{M}]--${unseparated.source}]*`,
  "gv",
);
/** Marks that people leave out when they search: accents, Hebrew and Arabic vowels. Not those of Japanese kana. */
const optionalMarks = /[[\p{Mn}&&[\p{sc=Zinh}\p{sc=Hebr}\p{sc=Arab}]]--[\u3099\u309a]]/gv;
/** PostgreSQL rejects words of 2 KiB. */
const maxWordLength = 500;

/** The words of a text, as the index and searches compare them: without regard to case, accents and width. */
export function wordsIn(text: string): readonly string[] {
  // Most texts are ASCII: this takes a quarter of the time.
  const words = isAscii(text) ? text.toLowerCase().match(/[a-z0-9]+/g) : folded(text).match(word);
  return (words ?? []).map((each) =>
    each.length > maxWordLength ? Array.from(each).slice(0, maxWordLength).join("") : each,
  );
}

// oxlint-disable-next-line no-control-regex -- all of ASCII.
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

function folded(text: string): string {
  return (
    text
      .normalize("NFKD")
      .replaceAll(optionalMarks, "")
      .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
      // Upper case first, which is one form for ß and ss, and for both forms of the Greek sigma.
      .toUpperCase()
      .toLowerCase()
      .replaceAll("ς", "σ")
      .normalize("NFC")
  );
}

/**
 * Reads what a person types into a search box: words, "words in this order" and prefi*. All terms must match.
 * Everything else separates words, so any text is valid; without a word it is empty.
 */
export function parseSearch(text: string): readonly SearchTerm[] {
  return Array.from(text.matchAll(/"([^"]*)"?(\*?)|([^\s"]+)/gu), ([, phrase, star, plain]) => {
    const words = wordsIn(phrase ?? plain ?? "");
    const isPrefix = star === "*" || plain?.endsWith("*") === true;
    return { words, isPrefix: isPrefix && !unseparated.test(words.at(-1) ?? "") };
  }).filter(({ words }) => words.length > 0);
}

/**
 * The word of the index that stands for the exact value of a column, so that a search by words and a column reads
 * one index. Long values are truncated. `kind`: a letter for the column.
 */
export function exactWord(kind: "p" | "t" | "a" | "s" | "v", value: string): SearchTerm {
  const start = Array.from(value).slice(0, 60).join("");
  return { words: [`=${kind}${Buffer.from(start).toString("hex")}`], isPrefix: false };
}
