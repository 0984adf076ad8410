import { and, asc, desc, sql } from "drizzle-orm";

import type { ItemId, Position } from "../base/page.ts";

import { countInSlices, rowsPerSlice } from "./in-turn.ts";
import {
  type Conditions,
  conditionsOf,
  type Filters,
  indexedFilter,
  isAnsweredByIndex,
  type List,
  remembered,
  type Values,
  withJoins,
} from "./list.ts";
import type { Source, Window } from "./paginate.ts";
import { idsOf, type Part, partByIds, partOf, partTerms, shapeOf, type TimeRange } from "./part.ts";
import { encoded, type Statement, statementsOver } from "./statement.ts";
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
    const { idsInOrder, selecting = [] } = list;
    /** The columns that the list is ordered by. */
    const keyOf = (tables: TablesOf<Defined>) => {
      const { createdAt, id } = list.table(tables);
      return idsInOrder === undefined ? [createdAt, id] : [id];
    };
    const valuesOf = (part: Part) =>
      idsInOrder === undefined ? part.values : idsOf(part, idsInOrder);
    const termsOf = (tables: TablesOf<Defined>, order: Window["order"], part: Part) => {
      const { createdAt, id } = list.table(tables);
      return idsInOrder === undefined
        ? partTerms({ createdAt, id }, order, part)
        : partByIds(id, order, part);
    };

    const pageStatement = (
      { terms }: Conditions<Defined>,
      order: Window["order"],
      part: Part,
    ): Statement<Values, Item> =>
      statement<Values>()((db, tables, _, dialect) => {
        const direction = order === "newest-first" ? desc : asc;
        const ordered = keyOf(tables).map((column) => direction(column));
        const matching = and(...terms(tables, dialect), ...termsOf(tables, order, part));
        const [limit, offset] = [sql.placeholder("limit"), sql.placeholder("offset")];
        const query = withJoins(list, list.select(db, tables), tables);
        if (list.key === undefined) {
          return query
            .where(matching)
            .orderBy(...ordered)
            .limit(limit)
            .offset(offset);
        }
        const key = list.key(tables);
        const page = sql`select ${key} from ${key.table} where ${matching ?? sql`true`} order by ${sql.join(ordered, sql`, `)} limit ${limit} offset ${offset}`;
        return query.where(sql`${key} in (${page})`).orderBy(...ordered);
      });
    const countStatement = ({ terms }: Conditions<Defined>, part: Part, hasLast: boolean) =>
      statement<Values>()((db, tables, _, dialect) => {
        const total = sql<number>`count(*)`.mapWith(Number);
        const { createdAt, id } = list.table(tables);
        const lastCreatedAt = encoded(sql.placeholder("lastCreatedAt"), createdAt);
        return withJoins(list, db.select({ total }).from(id.table), tables).where(
          and(
            ...terms(tables, dialect),
            ...termsOf(tables, "newest-first", part),
            ...(hasLast
              ? [
                  idsInOrder === undefined
                    ? sql`(${createdAt}, ${id}) >= (${lastCreatedAt}, ${sql.placeholder("lastId")})`
                    : sql`${id} >= ${sql.placeholder("lastId")}`,
                ]
              : []),
          ),
        );
      });
    const lastStatement = ({ terms }: Conditions<Defined>, part: Part) =>
      statement<Values>()((db, tables, _, dialect) => {
        const { createdAt, id } = list.table(tables);
        // Guarantee: `createdAt` is a column of instants.
        const decode = (value: unknown) => createdAt.mapFromDriverValue(value) as Date;
        const query = db
          .select({ createdAt: sql<Date>`${createdAt}`.mapWith(decode), id: sql<Id>`${id}` })
          .from(id.table);
        // Where ids are in order, `createdAt` may be in another table.
        return (idsInOrder === undefined ? query : withJoins(list, query, tables))
          .where(and(...terms(tables, dialect), ...termsOf(tables, "newest-first", part)))
          .orderBy(...keyOf(tables).map((column) => desc(column)))
          .limit(1)
          .offset(sql.placeholder("offset"));
      });

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
          const query = remembered(statements, shape, () => pageStatement(conditions, order, part));
          const values = { ...conditions.values, ...valuesOf(part), limit, offset };
          return storage.all(query, values, offset > rowsPerSlice ? "long" : pace);
        },
        count() {
          const count = async (from: Position<Id> | null, last: Position<Id> | null) => {
            const part = partOf({ order: "newest-first", from }, range);
            const shape = `${last === null ? "" : "last "}${shapeOf(part)} ${conditions.shape}`;
            const query = remembered(counts, shape, () =>
              countStatement(conditions, part, last !== null),
            );
            const values = {
              ...conditions.values,
              ...valuesOf(part),
              lastCreatedAt: last?.createdAt,
              lastId: last?.id,
            };
            const [row] = await storage.all(query, values, isSelecting ? "long" : "short");
            return row?.total ?? 0;
          };
          // A server counts on its own threads. The rows of a selecting filter would be selected for each slice.
          if (storage.dialect !== "sqlite" || isSelecting) return count(null, null);
          return countInSlices<Position<Id>>(async (from) => {
            const part = partOf({ order: "newest-first", from }, range);
            const query = remembered(lasts, `${shapeOf(part)} ${slicing.shape}`, () =>
              lastStatement(slicing, part),
            );
            const values = { ...slicing.values, ...valuesOf(part), offset: rowsPerSlice - 1 };
            const [row] = await storage.all(query, values);
            return row;
          }, count);
        },
      };
    };
  };
}
