import { type DocsFolder } from "./folder.ts";
import { plainText, sectionsOf, titleOf, urlOf } from "./page.ts";

/** A section of a page that has all words of a search. */
export interface Found {
  readonly title: string;
  /** Relative to the program's root. */
  readonly url: string;
  /** The text around the first word. */
  readonly excerpt: string;
}

const maxResults = 30;
const maxQueryLength = 100;
const maxWords = 8;
const excerptLength = 180;

/** The words of a search, in lower case. */
export function wordsIn(query: string): readonly string[] {
  const words = query.slice(0, maxQueryLength).toLowerCase().split(/\s+/);
  return words.filter((word) => word !== "").slice(0, maxWords);
}

/** The sections with all words, those with them in the title first. Decision records come last. */
export function search(docs: DocsFolder, words: readonly string[]): readonly Found[] {
  if (words.length === 0) return [];
  const found = Object.entries(docs.pages).flatMap(([file, markdown]) =>
    sectionsOf(markdown).flatMap(({ heading, id, text }) => {
      const page = titleOf(docs, file);
      const title = heading === page ? page : `${page}: ${heading}`;
      const plain = plainText(text);
      const [inTitle, inText] = [title.toLowerCase(), `${title} ${plain}`.toLowerCase()];
      if (!words.every((word) => inText.includes(word))) return [];
      const rank =
        words.filter((word) => inTitle.includes(word)).length - (file.includes("/") ? 100 : 0);
      const anchor = heading === page ? "" : `#${id}`;
      const excerpt = excerptOf(plain, words);
      return { title, url: (urlOf(docs, file) ?? "") + anchor, excerpt, rank };
    }),
  );
  return found.toSorted((one, other) => other.rank - one.rank).slice(0, maxResults);
}

function excerptOf(text: string, words: readonly string[]): string {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - 40);
  const part = text.slice(start, start + excerptLength).trim();
  return `${start > 0 ? "…" : ""}${part}${start + excerptLength < text.length ? "…" : ""}`;
}
