import { exactWord, wordsIn } from "../base/search-terms.ts";
import type { Event } from "../event/event.ts";
import { severities } from "../event/new-notification.ts";

interface Indexed extends Pick<
  Event,
  "provider" | "type" | "status" | "title" | "actor" | "subject" | "data"
> {
  /** The place of the highest severity of its notifications in `severities`; null without notifications. */
  readonly severityRank: number | null;
}

/** The words of an event in the index: those of its texts, and those that stand for the values of its columns. */
export function indexedWords(event: Indexed): readonly string[] {
  const { provider, type, status, title, actor, subject, data, severityRank } = event;
  const texts = [title, actor, subject, ...Object.values(data)];
  return [
    ...wordsIn(texts.filter((text) => text !== null && typeof text !== "boolean").join(" ")),
    ...exactWord("p", provider).words,
    ...exactWord("t", type).words,
    ...exactWord("a", status).words,
    ...(subject === null ? [] : exactWord("s", subject).words),
    // Those below it too, so that one word finds the events of a severity or a higher one.
    ...(severityRank === null ? exactWord("v", "none").words : []),
    ...severities
      .slice(0, severityRank === null ? 0 : severityRank + 1)
      .flatMap((severity) => exactWord("v", severity).words),
  ];
}

export const asText = (words: readonly string[]): string => words.join(" ");

/** The largest position of a word that a tsvector has. */
const lastPosition = 16_383;

/** The text of a tsvector. Words have only letters, digits and marks, so no quote must be escaped. */
export function asVector(words: readonly string[]): string {
  return words.map((word, index) => `'${word}':${Math.min(index + 1, lastPosition)}`).join(" ");
}
