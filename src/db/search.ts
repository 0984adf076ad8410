import { and, asc, type Column, desc, type SQL, sql, type Table } from "drizzle-orm";

import type { SearchTerm } from "../base/search-terms.ts";

import {
  type Conditions,
  conditionsOf,
  type Filters,
  type List,
  remembered,
  type Values,
  withJoins,
} from "./list.ts";
import type { Source, Window } from "./paginate.ts";
import { type Part, partOf, partTerms, shapeOf, type TimeRange } from "./part.ts";
import { type Dialect, encoded, statementsOver } from "./statement.ts";
import type { Storage } from "./storage.ts";
import type { Definitions, TablesOf } from "./table.ts";

/** A list that is searched by words. The table of `select` is the full-text index. */
interface SearchedList<Defined extends Definitions, Item, Filter extends string> extends List<
  Defined,
  Item,
  Filter
> {
  readonly index: (tables: TablesOf<Defined>) => Table & Record<"rowid", Column>;
}

/** A position is a time in milliseconds times this, plus a number that is unique within the millisecond. */
const positionsPerMs = 2 ** 20;

/** The most items of one millisecond that a page compares. */
const maxTies = 10_000;

/**
 * Returns the function that defines searches over these tables. On SQLite, the full-text index returns its
 * matches by position, newest first, so that a page of a common word reads no more than the page. Positions have
 * the order of the list, except within a millisecond: the page is completed to the end of its last one and sorted.
 */
export function searchesOver<const Defined extends Definitions>(definitions: Defined) {
  const statement = statementsOver(definitions);
  return <Item extends { readonly createdAt: Date; readonly id: string }, Filter extends string>(
    list: SearchedList<Defined, Item, Filter>,
  ) => {
    const statements = new Map<string, ReturnType<typeof pageStatement>>();
    const counts = new Map<string, ReturnType<typeof countStatement>>();

    const found = (
      { terms }: Conditions<Defined>,
      tables: TablesOf<Defined>,
      dialect: Dialect,
      order: Window["order"],
      part: Part,
    ) => {
      const index = list.index(tables);
      const { createdAt } = list.table(tables);
      return and(
        dialect.matches(index, sql.placeholder("words")),
        ...(dialect.matchesByRowid ? positionTerms(index.rowid, createdAt, order, part) : []),
        ...terms(tables, dialect),
        ...partTerms(list.table(tables), order, part),
      );
    };

    const pageStatement = (conditions: Conditions<Defined>, order: Window["order"], part: Part) =>
      statement<Values>()((db, tables, _, dialect) => {
        const { createdAt, id } = list.table(tables);
        const direction = order === "newest-first" ? desc : asc;
        const { rowid } = list.index(tables);
        const columns = dialect.matchesByRowid ? [rowid] : [createdAt, id];
        return withJoins(list, list.select(db, tables), tables)
          .where(found(conditions, tables, dialect, order, part))
          .orderBy(...columns.map((column) => direction(column)))
          .limit(sql.placeholder("limit"));
      });
    const countStatement = (conditions: Conditions<Defined>, part: Part) =>
      statement<Values>()((db, tables, _, dialect) => {
        const query = db
          .select({ total: sql<number>`count(*)`.mapWith(Number) })
          .from(list.index(tables));
        const isOfWords = shapeOf(part) === "start" && conditions.shape === "";
        // The items themselves take ten times as long as the index.
        return (isOfWords ? query : withJoins(list, query, tables)).where(
          found(conditions, tables, dialect, "newest-first", part),
        );
      });
    return (
      storage: Storage,
      words: readonly SearchTerm[],
      filters: Filters<Filter>,
      range: TimeRange = {},
    ): Source<Item> => {
      const conditions = conditionsOf(list, filters);
      const rows = ({ order, from, limit }: Omit<Window, "offset">, within: TimeRange) => {
        const part = partOf({ order, from }, within);
        const shape = `${order} ${shapeOf(part)} ${conditions.shape}`;
        const query = remembered(statements, shape, () => pageStatement(conditions, order, part));
        const values = { ...conditions.values, ...part.values, words, limit };
        // The index looks for the first match of a phrase, or of words that no item has together, without an end.
        return storage.all(query, values, "long");
      };
      return {
        async read({ order, from, offset, limit }) {
          const needed = offset + limit;
          if (needed === 0) return [];
          // One more, which shows whether the last millisecond is complete.
          const first = await rows({ order, from, limit: needed + 1 }, range);
          const last = first.at(needed - 1)?.createdAt;
          const isCut = last !== undefined && first[needed]?.createdAt.getTime() === last.getTime();
          if (!isCut) return first.toSorted(inOrder(order)).slice(offset, needed);
          const ofLast = await rows({ order, from, limit: maxTies }, millisecond(last));
          const before = first.filter(({ createdAt }) => createdAt.getTime() !== last.getTime());
          return [...before, ...ofLast].toSorted(inOrder(order)).slice(offset, needed);
        },
        async count() {
          const part = partOf({ order: "newest-first", from: null }, range);
          const values = { ...conditions.values, ...part.values, words };
          const shape = `${shapeOf(part)} ${conditions.shape}`;
          const query = remembered(counts, shape, () => countStatement(conditions, part));
          const [row] = await storage.all(query, values, "long");
          return row?.total ?? 0;
        },
      };
    };
  };
}

/** Limits a search to positions, which the full-text index can seek. */
function positionTerms(
  rowid: Column,
  createdAt: Column,
  order: Window["order"],
  { kind, isBounded }: Part,
): SQL[] {
  const isNewestFirst = order === "newest-first";
  const positionOf = (name: string, plusMs: number) => {
    const time = encoded(sql.placeholder(name), createdAt);
    return sql`(cast(${time} as integer) + ${sql.raw(String(plusMs))}) * ${sql.raw(String(positionsPerMs))}`;
  };
  // The item's own millisecond may have more items; a time is exclusive.
  const start = isNewestFirst
    ? sql`${rowid} < ${positionOf("createdAt", kind === "item" ? 1 : 0)}`
    : sql`${rowid} >= ${positionOf("createdAt", 0)}`;
  const end = isNewestFirst
    ? sql`${rowid} >= ${positionOf("bound", 0)}`
    : sql`${rowid} < ${positionOf("bound", 0)}`;
  return [...(kind === "start" ? [] : [start]), ...(isBounded ? [end] : [])];
}

function millisecond(at: Date): TimeRange {
  return { from: at, to: new Date(at.getTime() + 1) };
}

/** By `createdAt`, then by `id`, as the databases compare them. */
export function inOrder(order: Window["order"]) {
  const sign = order === "newest-first" ? -1 : 1;
  return (
    one: { readonly createdAt: Date; readonly id: string },
    other: { readonly createdAt: Date; readonly id: string },
  ): number => {
    const byTime = one.createdAt.getTime() - other.createdAt.getTime();
    if (byTime !== 0) return sign * byTime;
    return one.id === other.id ? 0 : sign * (one.id < other.id ? -1 : 1);
  };
}
