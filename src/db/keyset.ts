import {
  and,
  asc,
  type Column,
  desc,
  eq,
  isNull,
  type Placeholder,
  type SQL,
  sql,
} from "drizzle-orm";

import type { ItemId, Position } from "../base/page.ts";

import { countInSlices, rowsPerSlice } from "./count.ts";
import type { Source, Window } from "./paginate.ts";
import { idsOf, type Part, partByIds, partOf, partTerms, shapeOf, type TimeRange } from "./part.ts";
import {
  type Dialect,
  encoded,
  type Select,
  type Sql,
  type Statement,
  statementsOver,
} from "./statement.ts";
import type { Storage } from "./storage.ts";
import type { Definitions, TablesOf } from "./table.ts";

/** A list that is paginated by keyset. `Filter` names the columns that it can be filtered by. */
export interface List<Defined extends Definitions, Item, Filter extends string> {
  /** The columns to order and filter by: a table, or columns of several that `join` joins. */
  readonly table: (
    tables: TablesOf<Defined>,
  ) => Readonly<Record<"createdAt" | "id" | Filter, Column>>;
  readonly select: (db: Sql, tables: TablesOf<Defined>) => Select<Item>;
  /** Joins the other tables to that of the column `id`. */
  readonly join?: <Row>(query: Select<Row>, tables: TablesOf<Defined>) => Select<Row>;
  /** A case-insensitive filter; its index is on `lower(…)`. */
  readonly ignoringCase?: Filter;
  /** A filter whose column is among those that a query selects by its value. */
  readonly selected?: {
    readonly filter: Filter;
    readonly by: (tables: TablesOf<Defined>, value: Placeholder, dialect: Dialect) => SQL;
  };
  /** The conditions of filters that are not compared with a column of their own. */
  readonly conditions?: {
    readonly [Name in Filter]?: (tables: TablesOf<Defined>, value: Placeholder) => SQL;
  };
  /** The prefix of ids that sort as `createdAt` does, so that the index continues with the id alone. */
  readonly idsInOrder?: string;
  /** A filter that also matches rows without a value. */
  readonly orNull?: Filter;
  /**
   * A filter with few values, most often `common`. Other values are literals in the statement, together with
   * `<> common`, so that SQLite uses the partial index that covers only them.
   */
  readonly uncommon?: { readonly filter: Filter; readonly common: string };
  /**
   * Filters whose index continues with (createdAt, id). A count reads its slices from the index of the first one
   * that is given, otherwise from that of the whole list.
   */
  readonly indexed?: readonly Filter[];
  /** A unique column of the table of `id`. The page is found by it alone, and only its rows are joined to others. */
  readonly key?: (tables: TablesOf<Defined>) => Column;
}

/** Undefined: no filter. Null: rows without a value. */
export type Filters<Filter extends string> = {
  readonly [Name in Filter]?: string | null | undefined;
};

export type Values = Record<string, unknown>;

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
    const { idsInOrder } = list;
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
      const isSelecting = list.selected !== undefined && filters[list.selected.filter] != null;
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
          return countInSlices<Position<Id>>({
            count,
            async lastOfSlice(from) {
              const part = partOf({ order: "newest-first", from }, range);
              const query = remembered(lasts, `${shapeOf(part)} ${slicing.shape}`, () =>
                lastStatement(slicing, part),
              );
              const offset = rowsPerSlice - 1;
              const [row] = await storage.all(query, {
                ...slicing.values,
                ...valuesOf(part),
                offset,
              });
              return row;
            },
          });
        },
      };
    };
  };
}

export interface Conditions<Defined extends Definitions> {
  /** Cache key: equal for all filters that can share a statement. */
  readonly shape: string;
  readonly values: Record<string, string | null>;
  readonly terms: (tables: TablesOf<Defined>, dialect: Dialect) => SQL[];
}

export function conditionsOf<Defined extends Definitions, Item, Filter extends string>(
  list: List<Defined, Item, Filter>,
  filters: Filters<Filter>,
): Conditions<Defined> {
  const given = Object.entries<string | null | undefined>(filters).filter(
    (entry): entry is [Filter, string | null] => entry[1] !== undefined,
  );
  const isLiteral = (name: string) => name === list.uncommon?.filter;
  const isPartOfShape = (name: string, value: string | null) => isLiteral(name) || value === null;
  return {
    shape: given
      .map(([name, value]) => (isPartOfShape(name, value) ? `${name}=${value}` : name))
      .join(),
    values: Object.fromEntries(given.filter(([name, value]) => !isPartOfShape(name, value))),
    terms: (tables, dialect) =>
      given.flatMap(([name, value]) => {
        const condition = list.conditions?.[name];
        if (condition !== undefined) return [condition(tables, sql.placeholder(name))];
        const column: Column = list.table(tables)[name];
        if (value === null) return [isNull(column)];
        if (name === list.ignoringCase) {
          return [eq(dialect.lower(column), dialect.lower(sql.placeholder(name)))];
        }
        if (list.selected !== undefined && name === list.selected.filter) {
          const ids = list.selected.by(tables, sql.placeholder(name), dialect);
          return [sql`${column} in (${ids})`];
        }
        if (name === list.orNull) {
          return [sql`(${column} is null or ${column} = ${sql.placeholder(name)})`];
        }
        if (!isLiteral(name)) return [sql`${column} = ${sql.placeholder(name)}`];
        const common = list.uncommon?.common ?? "";
        const is = eq(column, value).inlineParams();
        return value === common ? [is] : [is, sql`${column} <> ${common}`.inlineParams()];
      }),
  };
}

/** Whether an index has the rows of the list in its order. With two filters, one may exclude most rows of the other's. */
function isAnsweredByIndex<Filter extends string>(
  { indexed = [], uncommon }: Pick<List<never, never, Filter>, "indexed" | "uncommon">,
  filters: Filters<Filter>,
): boolean {
  // Guarantee: a filter is given under its name.
  const given = Object.keys(filters).filter((name) => filters[name as Filter] !== undefined);
  const known: readonly string[] = [
    ...indexed,
    ...(uncommon === undefined ? [] : [uncommon.filter]),
  ];
  return given.length <= 1 && given.every((name) => known.includes(name));
}

/** The filter that a count is sliced by. */
function indexedFilter<Filter extends string>(
  { indexed = [] }: Pick<List<never, never, Filter>, "indexed">,
  filters: Filters<Filter>,
): Filters<Filter> {
  const name = indexed.find((each) => filters[each] !== undefined);
  // Guarantee: `name` is a filter.
  return (name === undefined ? {} : { [name]: filters[name] }) as Filters<Filter>;
}

export function withJoins<Defined extends Definitions, Row>(
  { join }: Pick<List<Defined, unknown, never>, "join">,
  query: Select<Row>,
  tables: TablesOf<Defined>,
): Select<Row> {
  return join === undefined ? query : join(query, tables);
}

export function remembered<Value>(
  cache: Map<string, Value>,
  key: string,
  make: () => Value,
): Value {
  let value = cache.get(key);
  if (value === undefined) {
    value = make();
    cache.set(key, value);
  }
  return value;
}
