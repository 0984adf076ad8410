import { and, asc, desc, sql } from "drizzle-orm";

import type { ItemId, Position } from "../base/page.ts";

import { countInSlices, rowsPerSlice } from "./in-turn.ts";
import {
  type Conditions,
  conditionsOf,
  type Filters,
  getOrMake,
  indexedFilter,
  isAnsweredByIndex,
  type List,
  orderOf,
  type Values,
  withJoins,
} from "./list.ts";
import type { Source, Window } from "./paginate.ts";
import { type Part, partOf, shapeOf, type TimeRange } from "./part.ts";
import { type Select, type Statement, statementsOver } from "./statement.ts";
import type { Storage } from "./storage.ts";
import type { Definitions, TablesOf } from "./table.ts";

/**
 * Returns the function that defines paginated reads over these tables. One statement is compiled for each
 * combination of filters, order and kind of position that requests use. Positions are compared as row
 * values, which both databases seek by index (the equivalent OR form is 1,000 times slower on SQLite).
 */
export function pagesOver<const Defined extends Definitions>(definitions: Defined) {
  const statement = statementsOver(definitions);
  return <Item, Filter extends string, Id extends ItemId = string>(
    list: List<Defined, Item, Filter>,
  ) => {
    const statements = new Map<string, Statement<Values, Item>>();
    const counts = new Map<string, Statement<Values, { total: number }>>();
    const lasts = new Map<string, Statement<Values, Position<Id>>>();
    const { selecting = [] } = list;
    const by = orderOf(list);

    const pageStatement = (
      { terms }: Conditions<Defined>,
      order: Window["order"],
      part: Part,
    ): Statement<Values, Item> =>
      statement<Values>()((db, tables, _, dialect) => {
        const direction = order === "newest-first" ? desc : asc;
        const ordered = by.columns(tables).map((column) => direction(column));
        const matching = and(...terms(tables, dialect), ...by.terms(tables, order, part));
        const [limit, offset] = [sql.placeholder("limit"), sql.placeholder("offset")];
        const query = withJoins(list, list.select(db, tables, dialect), tables);
        if (list.key === undefined) {
          return query
            .where(matching)
            .orderBy(...ordered)
            .limit(limit)
            .offset(offset);
        }
        const key = list.key(tables);
        const page = sql`select ${key} from ${key.table} where ${matching ?? sql`true`} order by ${sql.join(ordered, sql`, `)} limit ${limit} offset ${offset}`;
        const isOfPage = and(...terms(tables, dialect), sql`${key} in (${page})`);
        return query.where(isOfPage).orderBy(...ordered);
      });
    const countStatement = ({ terms }: Conditions<Defined>, part: Part, hasLast: boolean) =>
      statement<Values>()((db, tables, _, dialect) => {
        const total = sql<number>`count(*)`.mapWith(Number);
        const query = db.select({ total }).from(tableOf(tables));
        return withJoins(list, query, tables).where(
          and(
            ...terms(tables, dialect),
            ...by.terms(tables, "newest-first", part),
            ...(hasLast ? [by.untilLast(tables)] : []),
          ),
        );
      });
    const lastStatement = ({ terms }: Conditions<Defined>, part: Part) =>
      statement<Values>()((db, tables, _, dialect) => {
        const query = db.select(by.position(tables)).from(tableOf(tables));
        // Guarantee: the position of a row is that of its item.
        const positions = query as Select<Position<Id>>;
        // Events may be read by another table.
        return (list.position === undefined ? positions : withJoins(list, positions, tables))
          .where(and(...terms(tables, dialect), ...by.terms(tables, "newest-first", part)))
          .orderBy(...by.columns(tables).map((column) => desc(column)))
          .limit(1)
          .offset(sql.placeholder("offset"));
      });
    const tableOf = (tables: TablesOf<Defined>) => {
      const [column] = by.columns(tables);
      if (column === undefined) throw new Error("A list has no order");
      return column.table;
    };

    return (
      storage: Storage,
      filters: Filters<Filter>,
      range: TimeRange = {},
    ): Source<Item, Id> => {
      const conditions = conditionsOf(list, filters);
      const slicing = conditionsOf(list, indexedFilter(list, filters));
      const isSelecting = selecting.some((name) => filters[name] != null);
      const pace = isAnsweredByIndex(list, filters) ? "short" : "long";
      return {
        read(window) {
          const { order, limit, offset } = window;
          const part = partOf(window, range);
          const shape = `${order} ${shapeOf(part)} ${conditions.shape}`;
          const query = getOrMake(statements, shape, () => pageStatement(conditions, order, part));
          const values = { ...conditions.values, ...by.values(part), limit, offset };
          return storage.all(query, values, offset > rowsPerSlice ? "long" : pace);
        },
        count() {
          const count = async (from: Position<Id> | null, last: Position<Id> | null) => {
            const part = partOf({ order: "newest-first", from }, range);
            const shape = `${last === null ? "" : "last "}${shapeOf(part)} ${conditions.shape}`;
            const query = getOrMake(counts, shape, () =>
              countStatement(conditions, part, last !== null),
            );
            const values = {
              ...conditions.values,
              ...by.values(part),
              ...by.last(last),
            };
            const [row] = await storage.all(query, values, isSelecting ? "long" : "short");
            return row?.total ?? 0;
          };
          // A server counts on its own threads. The rows of a selecting filter would be selected for each slice.
          if (storage.dialect !== "sqlite" || isSelecting) return count(null, null);
          return countInSlices<Position<Id>>(async (from) => {
            const part = partOf({ order: "newest-first", from }, range);
            const query = getOrMake(lasts, `${shapeOf(part)} ${slicing.shape}`, () =>
              lastStatement(slicing, part),
            );
            const values = { ...slicing.values, ...by.values(part), offset: rowsPerSlice - 1 };
            const [row] = await storage.all(query, values);
            return row;
          }, count);
        },
      };
    };
  };
}
