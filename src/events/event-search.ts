import type { Position } from "../base/page.ts";
import { invalidParameter } from "../base/parameters.ts";
import { exactWord, parseSearch, type SearchTerm } from "../base/search-terms.ts";
import { mergeSources } from "../db/merge.ts";
import type { Source } from "../db/paginate.ts";
import type { Storage } from "../db/storage.ts";
import type { Event } from "../event/event.ts";
import { deliveryStates } from "../outbound/model/notification-words.ts";

import type { EventFilters } from "./event-filters.ts";
import type { DeliveryState } from "./event-index.ts";
import {
  deliveryAfter,
  eventAfter,
  eventPages,
  eventPagesByOutcome,
  eventSearch,
  nextType,
  openEventPages,
  sentEventPages,
  wordsBetween,
} from "./event-search.sql.ts";

/** A type prefix is read as one list per type, each by its index. */
const maxTypes = 50;
/** The most words that the prefixes of a search stand for. Each word is read from the index, phrases slowly. */
const maxWords = 200;
/** In so few events, the database finds all words with a prefix fast enough. */
const fewEvents = 20_000;
/** A search finds the events of so few deliveries before it reads their words. */
const fewDeliveries = 10_000;
/** Sorts after all characters. */
const lastCharacter = "\u{10ffff}";

/** Whether the list reads the search index. Other lists read the events or the deliveries themselves. */
export function needsIndex({ q, ...filters }: EventFilters): boolean {
  return q !== undefined || wordsOf(undefined, filters).length > 0;
}

/** `destination` must be an id. Throws `invalid-parameter` when a prefix matches too many types. */
export async function eventsMatching(
  storage: Storage,
  { type, q, ...filters }: EventFilters,
): Promise<Source<Event>> {
  if (filters.destination !== undefined && filters.delivery === "none") {
    throw invalidParameter("delivery", "none cannot be combined with destination");
  }
  // Without notifications there is no severity.
  if (filters.severity !== undefined && filters.delivery === "none") return mergeSources([]);
  const terms = q === undefined ? undefined : await known(storage, parseSearch(q));
  if (terms === null || terms?.length === 0) return mergeSources([]);
  const isSearch = needsIndex({ q, type, ...filters });
  const few = isSearch ? await fewAt(storage, filters.destination) : undefined;
  const ofType = (each?: string) => eventsOfType(storage, { ...filters, type: each }, terms, few);
  if (type === undefined || type === "*") return ofType();
  if (!type.endsWith("*")) return ofType(type);
  const types = await typesLike(storage, type.slice(0, -1));
  return mergeSources(types.map(ofType));
}

/** The matching events that were not delivered, merged from one list per state. Throws as `eventsMatching`. */
export async function undeliveredMatching(
  storage: Storage,
  filters: EventFilters,
): Promise<Source<Event>> {
  const { delivery: wanted, destination } = filters;
  const states = deliveryStates.filter(
    (state) =>
      state !== "delivered" &&
      (state !== "none" || destination === undefined) &&
      (wanted === undefined || state === wanted),
  );
  const ofState = (delivery: DeliveryState) => eventsMatching(storage, { ...filters, delivery });
  return mergeSources(await Promise.all(states.map(ofState)));
}

/** Events read at once to find given ones among them. */
const readAtOnce = 100;

/**
 * The ids of those of `events` that a list with `q` contains, by the list's own query. They must be indexed, and in the
 * order of commits, with few others between them. Throws as `eventsMatching`.
 */
export async function eventsWithWords(
  storage: Storage,
  q: string,
  events: readonly Event[],
): Promise<ReadonlySet<Event["id"]>> {
  const ids = new Set(events.map(({ id }) => id));
  const found = new Set<Event["id"]>();
  const [first, end] = [events[0], events.at(-1)];
  if (first === undefined || end === undefined) return found;
  const to = new Date(end.createdAt.getTime() + 1);
  const source = await eventsMatching(storage, { q, to });
  for (let from: Position = { createdAt: first.createdAt, id: null }; ;) {
    const window = { order: "oldest-first", from, offset: 0, limit: readAtOnce } as const;
    const matching = await source.read(window);
    for (const { id } of matching) if (ids.has(id)) found.add(id);
    const last = matching.at(-1);
    if (last === undefined || matching.length < readAtOnce) return found;
    from = last;
  }
}

/** The destination, if it has few deliveries. */
async function fewAt(storage: Storage, destination: string | undefined) {
  if (destination === undefined) return undefined;
  const [many] = await storage.all(deliveryAfter, { destination, count: fewDeliveries });
  return many === undefined ? destination : undefined;
}

function eventsOfType(
  storage: Storage,
  { from, to, ...filters }: Omit<EventFilters, "q">,
  terms: readonly SearchTerm[] | undefined,
  few: string | undefined,
): Source<Event> {
  const range = { from, to };
  const words = wordsOf(terms, filters);
  // A search has the severity among its words.
  const { severity, delivery, destination, ...columns } = filters;
  const unsearched = { ...columns, severity };
  if (destination !== undefined) {
    const sent = { destination, outcome: delivery };
    const isOne = columns.idempotencyKey !== undefined && terms === undefined;
    if (words.length > 0 && !isOne)
      return eventSearch(storage, words, { ...columns, ...sent, few }, range);
    const sentTo = { ...unsearched, ...sent };
    if (isOne) return eventPages(storage, sentTo, range);
    const ofDestination = delivery === undefined ? sentEventPages : eventPagesByOutcome;
    return mergeSources(ofDestination.map((half) => half(storage, sentTo, range)));
  }
  // Events without notifications have a word.
  const state = delivery === "none" ? undefined : delivery;
  if (words.length > 0) return eventSearch(storage, words, { ...columns, state }, range);
  if (state === undefined || state === "delivered")
    return eventPages(storage, { ...unsearched, state }, range);
  const open = { ...unsearched, state, open: state };
  return mergeSources(openEventPages.map((half) => half(storage, open, range)));
}

/** The states of most events. Those of a rare provider or type are found by its word, not by the state. */
const commonStates: ReadonlySet<DeliveryState | undefined> = new Set(["delivered", "none"]);

/**
 * The words that the index is searched for. The columns are among them, so that a common word with a rare type is
 * found as fast as a rare word. None: the list is not a search.
 */
function wordsOf(
  terms: readonly SearchTerm[] | undefined,
  { provider, type, status, subject, severity, delivery, destination }: Omit<EventFilters, "q">,
): readonly SearchTerm[] {
  const isCommon =
    commonStates.has(delivery) ||
    (delivery === undefined && (destination !== undefined || severity !== undefined));
  if (terms === undefined && subject === undefined && !isCommon) return [];
  const exact = [
    ["p", provider],
    ["t", type],
    ["a", status],
    ["s", subject],
    ["v", delivery === "none" ? delivery : severity],
  ] as const;
  return [
    ...(terms ?? []),
    ...exact.flatMap(([kind, value]) => (value === undefined ? [] : [exactWord(kind, value)])),
  ];
}

/** The terms with the words of each prefix, where the database needs them; null if a prefix has none. */
async function known(
  storage: Storage,
  terms: readonly SearchTerm[],
): Promise<readonly SearchTerm[] | null> {
  if (storage.dialect !== "sqlite") return terms;
  const found: SearchTerm[] = [];
  let remaining = maxWords;
  for (const term of terms) {
    if (!term.isPrefix) {
      found.push(term);
      continue;
    }
    const prefix = term.words.at(-1) ?? "";
    const lastWords = await wordsWith(storage, prefix, remaining);
    if (lastWords?.length === 0) return null;
    remaining -= lastWords?.length ?? 0;
    found.push(lastWords === null ? term : { ...term, lastWords });
  }
  return found;
}

/** The words with a prefix; null if there are more than `limit`, but few events. */
async function wordsWith(
  storage: Storage,
  prefix: string,
  limit: number,
): Promise<readonly string[] | null> {
  const until = prefix + lastCharacter;
  const found = await storage.all(wordsBetween, { from: prefix, until, limit: limit + 1 }, "long");
  if (found.length <= limit) return found.map(({ term }) => term);
  const [many] = await storage.all(eventAfter, { count: fewEvents });
  if (many === undefined) return null;
  const detail =
    limit === maxWords
      ? `More than ${maxWords} words begin with ${prefix}. Write more of the word, or search for the whole word`
      : `More than ${maxWords} words have these beginnings. Write more of ${prefix}, or search for the whole word`;
  throw invalidParameter("q", detail);
}

async function typesLike(storage: Storage, prefix: string): Promise<readonly string[]> {
  const until = prefix + lastCharacter;
  const types: string[] = [];
  for (let from = prefix; ;) {
    const [next] = await storage.all(nextType, { from, until });
    if (next === undefined) return types;
    if (types.length === maxTypes) {
      const detail = `More than ${maxTypes} types match. Write more of the type`;
      throw invalidParameter("type", detail);
    }
    types.push(next.type);
    // Types have no control characters, so no type is between these two.
    from = `${next.type}\u0001`;
  }
}
