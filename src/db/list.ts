import { type Column, eq, isNull, type Placeholder, type SQL, sql } from "drizzle-orm";

import { byPosition, byTime, type ListOrder } from "./part.ts";
import type { Dialect, Select, Sql } from "./statement.ts";
import type { Definitions, TablesOf } from "./table.ts";

/** A list that is paginated by keyset. `Filter` names the columns that it can be filtered by. */
export interface List<Defined extends Definitions, Item, Filter extends string> {
  /** The columns to order and filter by: a table, or columns of several that `join` joins. */
  readonly table: (
    tables: TablesOf<Defined>,
  ) => Readonly<Record<Filter, Column> & Partial<Record<"createdAt" | "id", Column>>>;
  /** Orders by positions, of which the ids are made, in place of `createdAt` and `id`. */
  readonly position?: (tables: TablesOf<Defined>) => Column;
  readonly select: (db: Sql, tables: TablesOf<Defined>, dialect: Dialect) => Select<Item>;
  /** Joins the other tables to that of the first column of the order. */
  readonly join?: <Row>(query: Select<Row>, tables: TablesOf<Defined>) => Select<Row>;
  /** True for all rows of the list: what its partial indexes say, which counts of slices need too. */
  readonly always?: (tables: TablesOf<Defined>) => SQL;
  /** Filters whose conditions select rows by another table. */
  readonly selecting?: readonly Filter[];
  /** The conditions of filters that do not equal their column. */
  readonly conditions?: {
    readonly [Name in Filter]?: (
      tables: TablesOf<Defined>,
      value: Placeholder,
      dialect: Dialect,
    ) => SQL;
  };
  /**
   * A filter with few values, most often `common`. Other values are literals in the statement, together with
   * `<> common`, so that SQLite uses the partial index that covers only them.
   */
  readonly uncommon?: { readonly filter: Filter; readonly common: string };
  /**
   * Filters whose index continues with the order of the list. A count reads its slices from the index of the first one
   * that is given, otherwise from that of the whole list.
   */
  readonly indexed?: readonly Filter[];
  /** There are so few rows that reading all of them takes no time. */
  readonly isSmall?: true;
  /**
   * A column of the table of `id` that is unique among the rows of each combination of filters. The page is found by it
   * alone, and only its rows are joined to others.
   */
  readonly key?: (tables: TablesOf<Defined>) => Column;
}

/** Undefined: no filter. Null: rows without a value. */
export type Filters<Filter extends string> = {
  readonly [Name in Filter]?: string | Date | null | undefined;
};

export type Values = Record<string, unknown>;

export interface Conditions<Defined extends Definitions> {
  /** Cache key: equal for all filters that can share a statement. */
  readonly shape: string;
  readonly values: Values;
  readonly terms: (tables: TablesOf<Defined>, dialect: Dialect) => SQL[];
}

export function conditionsOf<Defined extends Definitions, Item, Filter extends string>(
  list: List<Defined, Item, Filter>,
  filters: Filters<Filter>,
): Conditions<Defined> {
  const given = Object.entries<string | Date | null | undefined>(filters).filter(
    (entry): entry is [Filter, string | Date | null] => entry[1] !== undefined,
  );
  const isLiteral = (name: string) => name === list.uncommon?.filter;
  const isPartOfShape = (name: string, value: string | Date | null) =>
    isLiteral(name) || value === null;
  return {
    shape: given
      .map(([name, value]) => (isPartOfShape(name, value) ? `${name}=${String(value)}` : name))
      .join(),
    values: Object.fromEntries(given.filter(([name, value]) => !isPartOfShape(name, value))),
    terms: (tables, dialect) => [
      ...(list.always === undefined ? [] : [list.always(tables)]),
      ...given.flatMap(([name, value]) => {
        const condition = list.conditions?.[name];
        if (condition !== undefined) return [condition(tables, sql.placeholder(name), dialect)];
        const column: Column = list.table(tables)[name];
        if (value === null) return [isNull(column)];
        if (!isLiteral(name)) return [sql`${column} = ${sql.placeholder(name)}`];
        const common = list.uncommon?.common ?? "";
        const is = eq(column, value).inlineParams();
        return value === common ? [is] : [is, sql`${column} <> ${common}`.inlineParams()];
      }),
    ],
  };
}

/** Whether an index has the rows of the list in its order. With two filters, one may exclude most rows of the other's. */
export function isAnsweredByIndex<Filter extends string>(
  {
    indexed = [],
    uncommon,
    isSmall,
  }: Pick<List<never, never, Filter>, "indexed" | "uncommon" | "isSmall">,
  filters: Filters<Filter>,
): boolean {
  if (isSmall) return true;
  // Guarantee: a filter is given under its name.
  const given = Object.keys(filters).filter((name) => filters[name as Filter] !== undefined);
  const known: readonly string[] = [
    ...indexed,
    ...(uncommon === undefined ? [] : [uncommon.filter]),
  ];
  return given.length <= 1 && given.every((name) => known.includes(name));
}

/** The order of a list. */
export function orderOf<Defined extends Definitions>({
  position,
  table,
}: Pick<List<Defined, unknown, never>, "position" | "table">): ListOrder<TablesOf<Defined>> {
  return position === undefined ? byTime(table) : byPosition(position);
}

/** The filter that a count is sliced by. */
export function indexedFilter<Filter extends string>(
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

export function getOrMake<Value>(cache: Map<string, Value>, key: string, make: () => Value): Value {
  let value = cache.get(key);
  if (value === undefined) {
    value = make();
    cache.set(key, value);
  }
  return value;
}
