import { encodeCursor } from "../base/cursor.ts";
import { parseJson } from "../base/json.ts";
import type { Page } from "../base/page.ts";

/** The longest answer of a tool, in characters. Users complain of clients that fill a context with one answer. */
export const maxAnswerLength = 20_000;
/** Of the items of a list, which leaves room for what is around them. */
const maxItemsLength = 17_000;

interface Bounds {
  /** Characters of a text. */
  readonly text: number;
  /** Items of an array. */
  readonly items: number;
}

/** How much of long texts and arrays is kept: the first bounds by which an answer fits. */
const bounds: readonly Bounds[] = [
  { text: 8_000, items: 100 },
  { text: 2_000, items: 50 },
  { text: 500, items: 20 },
  { text: 120, items: 5 },
  { text: 40, items: 2 },
];
const ofItem: Bounds = { text: 300, items: 10 };

/** JSON without nulls, as long as an answer may be. */
export function answerText(answer: unknown): string {
  const texts = bounds.values().map((each) => jsonOf(answer, each));
  const fitting = texts.find((text) => text.length <= maxAnswerLength);
  return fitting ?? JSON.stringify({ error: "The answer is too long. Ask for less." });
}

function jsonOf(value: unknown, { text, items }: Bounds): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (each === null) return undefined;
    if (typeof each === "string" && each.length > text) {
      return `${each.slice(0, text)}… (${each.length - text} characters more)`;
    }
    if (Array.isArray(each) && each.length > items) {
      return [...each.slice(0, items), `… (${each.length - items} more)`];
    }
    return each;
  });
}

interface Listed {
  readonly createdAt: Date;
  readonly id: string;
}

/** As many items of a page as fit, and the cursor of the rest; null at the end of the list. */
export function listAnswer<Item extends Listed>(
  { data, pagination }: Page<Item>,
  shown: (item: Item) => object,
): { readonly items: readonly unknown[]; readonly nextCursor: string | null } {
  const items: unknown[] = [];
  let length = 0;
  for (const [index, item] of data.entries()) {
    const text = jsonOf(shown(item), ofItem);
    length += text.length;
    const last = data[index - 1];
    if (length > maxItemsLength && last !== undefined) {
      return { items, nextCursor: encodeCursor(last) };
    }
    items.push(parseJson(text));
  }
  return { items, nextCursor: pagination.hasMore ? pagination.nextCursor : null };
}
