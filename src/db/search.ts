import { and, asc, desc, sql, type Table } from "drizzle-orm";

import type { SearchTerm } from "../base/search-terms.ts";

import {
  type Conditions,
  conditionsOf,
  type Filters,
  getOrMake,
  type List,
  orderOf,
  type Values,
  withJoins,
} from "./list.ts";
import type { Source, Window } from "./paginate.ts";
import { type Part, partOf, shapeOf, type TimeRange } from "./part.ts";
import { type Dialect, statementsOver } from "./statement.ts";
import type { Storage } from "./storage.ts";
import type { Definitions, TablesOf } from "./table.ts";

/** A list that is searched by words. The table of `position` is the full-text index. */
interface SearchedList<Defined extends Definitions, Item, Filter extends string> extends List<
  Defined,
  Item,
  Filter
> {
  readonly index: (tables: TablesOf<Defined>) => Table;
}

/**
 * Returns the function that defines searches over these tables. On SQLite, the full-text index returns its
 * matches by position, newest first, so that a page of a common word reads no more than the page.
 */
export function searchesOver<const Defined extends Definitions>(definitions: Defined) {
  const statement = statementsOver(definitions);
  return <Item, Filter extends string>(list: SearchedList<Defined, Item, Filter>) => {
    const statements = new Map<string, ReturnType<typeof pageStatement>>();
    const counts = new Map<string, ReturnType<typeof countStatement>>();
    const by = orderOf(list);

    const found = (
      { terms }: Conditions<Defined>,
      tables: TablesOf<Defined>,
      dialect: Dialect,
      order: Window["order"],
      part: Part,
    ) =>
      and(
        dialect.matches(list.index(tables), sql.placeholder("words")),
        ...terms(tables, dialect),
        ...by.terms(tables, order, part),
      );

    const pageStatement = (conditions: Conditions<Defined>, order: Window["order"], part: Part) =>
      statement<Values>()((db, tables, _, dialect) => {
        const direction = order === "newest-first" ? desc : asc;
        return withJoins(list, list.select(db, tables, dialect), tables)
          .where(found(conditions, tables, dialect, order, part))
          .orderBy(...by.columns(tables).map((column) => direction(column)))
          .limit(sql.placeholder("limit"))
          .offset(sql.placeholder("offset"));
      });
    const countStatement = (conditions: Conditions<Defined>, part: Part) =>
      statement<Values>()((db, tables, _, dialect) => {
        const query = db
          .select({ total: sql<number>`count(*)`.mapWith(Number) })
          .from(list.index(tables));
        // The items themselves take ten times as long as the index.
        return (conditions.shape === "" ? query : withJoins(list, query, tables)).where(
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
      return {
        async read({ order, from, offset, limit }) {
          const part = partOf({ order, from }, range);
          const shape = `${order} ${shapeOf(part)} ${conditions.shape}`;
          const query = getOrMake(statements, shape, () => pageStatement(conditions, order, part));
          const values = { ...conditions.values, ...by.values(part), words, limit, offset };
          // The index looks for the first match of a phrase, or of words that no item has together, without an end.
          return storage.all(query, values, "long");
        },
        async count() {
          const part = partOf({ order: "newest-first", from: null }, range);
          const values = { ...conditions.values, ...by.values(part), words };
          const shape = `${shapeOf(part)} ${conditions.shape}`;
          const query = getOrMake(counts, shape, () => countStatement(conditions, part));
          const [row] = await storage.all(query, values, "long");
          return row?.total ?? 0;
        },
      };
    };
  };
}
