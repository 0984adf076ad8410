import { encodeCursor } from "../base/cursor.ts";
import { AppError } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import type { Page } from "../base/page.ts";

/** The longest answer of a tool, in characters. Users complain of clients that fill a context with one answer. */
export const maxAnswerLength = 20_000;
/** The longest list of items, which leaves room for the rest of the answer. */
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

/** JSON without nulls, as long as an answer may be. Throws `bad-request` for an answer that is too long however it is cut. */
export function answerText(answer: object): string {
  const texts = bounds.values().map((each) => jsonOf(answer, each));
  const fitting = texts.find((text) => text.length <= maxAnswerLength);
  if (fitting === undefined)
    throw new AppError("bad-request", "The answer is too long. Ask for less");
  return fitting;
}

function jsonOf(value: unknown, { text, items }: Bounds): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (each === null) return undefined;
    if (typeof each === "string" && each.length > text) {
      return `${each.slice(0, text)}… (${each.length - text} characters more)`;
    }
    return typeof each === "object" ? withCutArrays(each, items) : each;
  });
}

/** With the first `items` of each array. `omitted` counts the others, by the name of their array. */
function withCutArrays(value: object, items: number): object {
  if (Array.isArray(value)) return value;
  const long = Object.entries(value).filter(
    (entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && entry[1].length > items,
  );
  if (long.length === 0) return value;
  const cut = long.map(([name, array]) => [name, array.slice(0, items)] as const);
  const omitted = long.map(([name, array]) => [name, array.length - items] as const);
  return { ...value, ...Object.fromEntries(cut), omitted: Object.fromEntries(omitted) };
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
