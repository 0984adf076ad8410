import { nextTurn } from "../../base/own-turn.ts";

import type { DocsFolder } from "./docs.embedded.ts";
import { plainText, sectionsOf, titleOf, urlOf } from "./page.ts";

/** A section of a page that has all words of a search. */
export interface Hit {
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

/** A section with its texts in lower case, which a search reads. */
interface Indexed extends Pick<Hit, "title" | "url"> {
  readonly text: string;
  readonly lowerTitle: string;
  readonly lower: string;
  /** Decision records come last. */
  readonly isRecord: boolean;
}

/** Prepares all sections, a page in each turn of the event loop: all at once would block it for 40 ms. */
export async function indexOf(docs: DocsFolder): Promise<readonly Indexed[]> {
  const sections: Indexed[] = [];
  for (const [file, markdown] of Object.entries(docs.pages)) {
    await nextTurn();
    const page = titleOf(docs, file);
    for (const { heading, id, text: source } of sectionsOf(markdown)) {
      const isPage = heading === page;
      const title = isPage ? page : `${page}: ${heading}`;
      const text = plainText(source);
      const url = (urlOf(docs, file) ?? "") + (isPage ? "" : `#${id}`);
      const [lowerTitle, lower] = [title.toLowerCase(), `${title} ${text}`.toLowerCase()];
      sections.push({ title, url, text, lowerTitle, lower, isRecord: file.includes("/") });
    }
  }
  return sections;
}

/** The sections with all words, of which there is at least one; those with them in the title first. */
export function search(sections: readonly Indexed[], words: readonly string[]): readonly Hit[] {
  const rankOf = ({ lowerTitle, isRecord }: Indexed) =>
    words.filter((word) => lowerTitle.includes(word)).length - (isRecord ? maxWords : 0);
  return sections
    .filter(({ lower }) => words.every((word) => lower.includes(word)))
    .toSorted((one, other) => rankOf(other) - rankOf(one))
    .slice(0, maxResults)
    .map(({ title, url, text }) => ({ title, url, excerpt: excerptOf(text, words) }));
}

function excerptOf(text: string, words: readonly string[]): string {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - 40);
  const part = text.slice(start, start + excerptLength).trim();
  return `${start > 0 ? "…" : ""}${part}${start + excerptLength < text.length ? "…" : ""}`;
}
