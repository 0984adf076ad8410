import { and, asc, type Column, desc, eq, type SQL, sql, type Table } from "drizzle-orm";

import type { ItemId } from "../base/page.ts";
import type { Source, Window } from "./paginate.ts";

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
  readonly table: (
    tables: TablesOf<Defined>,
  ) => Table & Record<"createdAt" | "id" | Filter, Column>;
  readonly select: (db: Sql, tables: TablesOf<Defined>) => Select<Item>;
  /** A case-insensitive filter; its index is on `lower(…)`. */
  readonly ignoringCase?: Filter;
  /**
   * A filter with few values, most often `common`. Other values are literals in the statement, together with
   * `<> common`, so that SQLite uses the partial index that covers only them.
   */
  readonly uncommon?: { readonly filter: Filter; readonly common: string };
}

/** Undefined: no filter. */
export type Filters<Filter extends string> = { readonly [Name in Filter]?: string | undefined };

type Values = Record<string, string | number | Date | null>;

/** Whether a page starts at the first item, after an instant, or after an item. */
type PositionKind = "start" | "time" | "item";

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

    const pageStatement = (
      { terms }: Conditions<Defined>,
      order: Window["order"],
      kind: PositionKind,
    ) =>
      statement<Values>()((db, tables, _, dialect) => {
        const { createdAt, id } = list.table(tables);
        const sign = order === "newest-first" ? sql.raw("<") : sql.raw(">");
        const direction = order === "newest-first" ? desc : asc;
        const time = encoded(sql.placeholder("createdAt"), createdAt);
        const after = {
          start: undefined,
          time: sql`${createdAt} ${sign} ${time}`,
          item: sql`(${createdAt}, ${id}) ${sign} (${time}, ${sql.placeholder("id")})`,
        };
        return list
          .select(db, tables)
          .where(and(...terms(tables, dialect), after[kind]))
          .orderBy(direction(createdAt), direction(id))
          .limit(sql.placeholder("limit"))
          .offset(sql.placeholder("offset"));
      });
    const countStatement = ({ terms }: Conditions<Defined>) =>
      statement<Values>()((db, tables, _, dialect) =>
        db
          .select({ total: sql<number>`count(*)`.mapWith(Number) })
          .from(list.table(tables))
          .where(and(...terms(tables, dialect))),
      );

    return (storage: Storage, filters: Filters<Filter>): Source<Item, Id> => {
      const conditions = conditionsOf(list, filters);
      return {
        read({ order, from, limit, offset }) {
          const kind = from === null ? "start" : from.id === null ? "time" : "item";
          const shape = `${order} ${kind} ${conditions.shape}`;
          const query = remembered(statements, shape, () => pageStatement(conditions, order, kind));
          const position = { createdAt: from?.createdAt ?? null, id: from?.id ?? null };
          return storage.all(query, { ...conditions.values, ...position, limit, offset });
        },
        async count() {
          const query = remembered(counts, conditions.shape, () => countStatement(conditions));
          const [row] = await storage.all(query, conditions.values);
          return row?.total ?? 0;
        },
      };
    };
  };
}

interface Conditions<Defined extends Definitions> {
  /** Cache key: equal for all filters that can share a statement. */
  readonly shape: string;
  readonly values: Record<string, string>;
  readonly terms: (tables: TablesOf<Defined>, dialect: Dialect) => SQL[];
}

function conditionsOf<Defined extends Definitions, Item, Filter extends string>(
  list: List<Defined, Item, Filter>,
  filters: Filters<Filter>,
): Conditions<Defined> {
  const given = Object.entries<string | undefined>(filters).filter(
    (entry): entry is [Filter, string] => entry[1] !== undefined,
  );
  const isLiteral = (name: string) => name === list.uncommon?.filter;
  return {
    shape: given.map(([name, value]) => (isLiteral(name) ? `${name}=${value}` : name)).join(),
    values: Object.fromEntries(given.filter(([name]) => !isLiteral(name))),
    terms: (tables, dialect) =>
      given.flatMap(([name, value]) => {
        const column: Column = list.table(tables)[name];
        if (name === list.ignoringCase) {
          return [eq(dialect.lower(column), dialect.lower(sql.placeholder(name)))];
        }
        if (!isLiteral(name)) return [sql`${column} = ${sql.placeholder(name)}`];
        const common = list.uncommon?.common ?? "";
        const is = eq(column, value).inlineParams();
        return value === common ? [is] : [is, sql`${column} <> ${common}`.inlineParams()];
      }),
  };
}

function remembered<Value>(cache: Map<string, Value>, key: string, make: () => Value): Value {
  let value = cache.get(key);
  if (value === undefined) {
    value = make();
    cache.set(key, value);
  }
  return value;
}
