import {
  type Column,
  getTableColumns,
  getTableName,
  Placeholder,
  type SQL,
  sql,
  Subquery,
  type Table,
} from "drizzle-orm";

import type { AppError } from "../base/errors.ts";

import type { Place } from "./place.ts";
import type { Definition, Definitions, RowOf, TablesOf } from "./table.ts";

/**
 * The methods that Drizzle's builders for SQLite and PostgreSQL share, limited to those that our queries use.
 * A query written against it runs on both.
 */
export interface Sql {
  select(): { from<T extends Table>(table: T): Select<RowOf<T>> };
  select<F extends Fields>(fields: F): { from(table: Table | Subquery): Select<RowOfFields<F>> };
  insert<T extends Table>(
    table: T,
  ): {
    values(row: Assignments<T>): Insert;
    /** `rows`: see `rowIf`. */
    select(rows: SQL): Insert;
  };
  update<T extends Table>(table: T): { set(row: Partial<Assignments<T>>): Update };
  delete(table: Table): { where(condition: SQL | undefined): WriteQuery };
}

interface Fields {
  readonly [name: string]: Column | SQL | Fields;
}
type RowOfFields<F> = {
  [K in keyof F]: F[K] extends SQL<infer Value>
    ? Value
    : F[K] extends { readonly _: { readonly data: infer Data; readonly notNull: infer NotNull } }
      ? NotNull extends true
        ? Data
        : Data | null
      : RowOfFields<F[K]>;
};
/** A value for each column of a row. */
export type Assignments<T extends Table> = {
  [K in keyof RowOf<T>]?: RowOf<T>[K] | SQL | Placeholder;
};

/** A complete query whose rows are `Row`. At run time it is a Drizzle builder. */
export interface Query<Row> {
  /** Never set: carries the type of the rows. */
  readonly $row?: Row;
}
export interface Select<Row> extends Query<Row> {
  /** Use it only with named fields, which keep the row flat. */
  innerJoin(table: Table, on: SQL): Select<Row>;
  where(condition: SQL | undefined): Select<Row>;
  groupBy(...columns: (Column | SQL)[]): Select<Row>;
  orderBy(...terms: SQL[]): Select<Row>;
  limit(rows: number | Placeholder): Select<Row>;
  offset(rows: number | Placeholder): Select<Row>;
}
interface Update {
  /** `rows`: what a row is updated from, such as `Dialect.rows`. */
  from(rows: SQL): Pick<Update, "where">;
  where(condition: SQL | undefined): WriteQuery;
}
interface WriteQuery extends Query<never> {
  returning<F extends Fields>(fields: F): Query<RowOfFields<F>>;
}
interface Insert extends WriteQuery {
  onConflictDoNothing(): WriteQuery;
  onConflictDoUpdate(clash: {
    readonly target: Column[];
    readonly set: Record<string, SQL>;
    readonly setWhere?: SQL;
  }): WriteQuery;
}

/** `parameters.name` is the placeholder for `values.name`; a name that is not in `Values` does not compile. */
export type Parameters<Values> = { readonly [Name in keyof Values]-?: Placeholder };

/** SQL that differs between the databases. */
export interface Dialect {
  /** True when `column` is one of the values of `list`. */
  among(column: Column, list: Placeholder): SQL;
  /**
   * The rows with one of the values of `list`, under the name of their table. Always read by the index of `column`,
   * where PostgreSQL keeps plans for `among` from when the table was small, and then reads all of it.
   */
  lookedUp(column: Column, list: Placeholder): Subquery;
  /**
   * The rows of `list` as a table `alias`, whose columns have the names of `columns`: so one statement inserts or updates
   * many rows. Its texts lose NUL and lone surrogates, which not every database stores.
   */
  rows(list: Placeholder, columns: Readonly<Record<string, Column>>, alias: string): SQL;
  /** Converts ASCII letters to lower case; other letters stay unchanged. */
  lower(text: Column | Placeholder): SQL;
  /** What a new row has for a key that the database assigns. */
  nextKey(column: Column): SQL;
  /** A unique number for a new row; PostgreSQL takes it from the sequence `<table>_<column>`. */
  nextNumber(column: Column): SQL;
  /**
   * The highest position such that no open transaction can still commit an event with it or a lower one. With several
   * writers, events do not become visible in the order of their positions.
   */
  newestSettled(position: Column): SQL<number>;
  /** The id that `idAt` makes of these columns. */
  idOf<Prefix extends string>(
    prefix: Prefix,
    position: Column,
    tail: Column,
  ): SQL<`${Prefix}_${string}`>;
  /** The values of a group as text, separated by commas; null without rows. */
  joined(text: SQL): SQL<string | null>;
  /** The rows of `query` as a table `alias`, locked, without those that another transaction has locked. Read once. */
  unlocked(query: SQL, alias: string): SQL;
  /** True when a row of the full-text index has all words. The placeholder's value is a list of `SearchTerm`. */
  matches(index: Table, terms: Placeholder): SQL;
  /** The words of an event as the full-text index stores them. */
  vectorOf(words: SQL): SQL;
  /**
   * Whether the full-text index returns its matches in the order of its `rowid`, at no cost. Any other order
   * reads all of them.
   */
  readonly matchesByRowid: boolean;
  /**
   * Whether tables of events are partitioned by position. Such a table has no unique index without the position, so the keys
   * of events have a table of their own.
   */
  readonly isPartitioned: boolean;
}

/** Rows, or those that have one of these values in common. */
interface ContendedRows {
  readonly table: Definition;
  /** Two texts may share a lock. */
  readonly ids: readonly (number | string)[];
  /** For a statement that only relies on them: it waits for those that change them, not for others like it. */
  readonly isShared?: true;
}

/** A query, defined once. Each dialect compiles it on first use and runs it with `Values`. */
export interface Statement<Values, Row> {
  readonly definitions: Definitions;
  build(
    sql: Sql,
    tables: TablesOf<Definitions>,
    parameters: Parameters<Values>,
    dialect: Dialect,
  ): Query<Row>;
  /**
   * The rows that many transactions update at the same time. A database with many writers locks the
   * contended rows of a group first, always in the same order, so that no two groups deadlock.
   */
  contended?(values: Values): ContendedRows;
  /** The place of what it stores. The storage assigns its position. Null if it has one already. */
  place?(values: Values): Place | null;
}

/**
 * Returns the function that defines statements over these tables. Define statements at module level or in
 * a cache, never per request: building and preparing a query takes 45–90 µs, running a prepared one 1–3 µs.
 */
export function statementsOver<const Defined extends Definitions>(definitions: Defined) {
  return <Values extends object = Record<never, never>>() =>
    <Row>(
      build: (
        sql: Sql,
        tables: TablesOf<Defined>,
        parameters: Parameters<Values>,
        dialect: Dialect,
      ) => Query<Row>,
      options: Pick<Statement<Values, Row>, "contended" | "place"> = {},
    ): Statement<Values, Row> => ({
      definitions,
      // Guarantee: the compiler passes the tables of these definitions, under the same names.
      build: (sql, tables, parameters, dialect) =>
        build(sql, tables as unknown as TablesOf<Defined>, parameters, dialect),
      ...options,
    });
}

/** Rows of a table that a query selects, under its name: `select({ … }).from(rowsAs(t.events, query))`. */
export function rowsAs(table: Table, rows: SQL): Subquery {
  return new Subquery(rows, getTableColumns(table), getTableName(table));
}

/** A placeholder for every column of a table: `insert(t.events).values(allColumns(t.events))`. */
export function allColumns<T extends Table>(
  table: T,
  ...except: (keyof RowOf<T> & string)[]
): Assignments<T>;
export function allColumns(table: Table, ...except: string[]): Record<string, Placeholder> {
  return Object.fromEntries(
    Object.keys(getTableColumns(table))
      .filter((field) => !except.includes(field))
      .map((field) => [field, new Placeholder(field)]),
  );
}

/**
 * A row of placeholders for every column of a table, if a condition holds:
 * `insert(t.events).select(rowIf(t.events, condition))`. With several writers, each checks the condition before it
 * sees the others' rows, unless the statement is `contended`. `made`: what columns have that the database assigns.
 */
export function rowIf(table: Table, condition: SQL, made: Readonly<Record<string, SQL>> = {}): SQL {
  const values = Object.entries(getTableColumns(table)).map(
    ([field, column]) => made[field] ?? encoded(new Placeholder(field), column),
  );
  return sql`select ${sql.join(values, sql`, `)} where ${condition}`;
}

/** All columns of a table, to select them with others: `select({ ...columnsOf(t.events), lines })`. */
export function columnsOf<T extends Table>(table: T): Pick<T, keyof RowOf<T>>;
export function columnsOf(table: Table): object {
  return getTableColumns(table);
}

/**
 * The columns of the fields that a resource shows, in their order. A column that is only stored is shown by no list, feed
 * or message. `made`: the fields that are made of several columns, or of those of other tables.
 */
export function shownColumns<T extends Table, Fields extends object, Made extends object = object>(
  table: T,
  fields: Fields,
  made?: Made,
): Pick<T, Exclude<Extract<keyof Fields, keyof RowOf<T>>, keyof Made>> & Made;
export function shownColumns(table: Table, fields: object, made = {}): object {
  const known: Readonly<Record<string, unknown>> = { ...getTableColumns(table), ...made };
  return Object.fromEntries(
    Object.keys(fields).flatMap((field) =>
      Object.hasOwn(known, field) ? [[field, known[field]]] : [],
    ),
  );
}

/** A placeholder whose value is encoded like those of `column`, for use in raw fragments. */
export function encoded(placeholder: Placeholder, column: Column): SQL {
  return sql`${sql.param(placeholder, column)}`;
}

/** A statement and the values to run it with. */
export interface Write<Row> {
  readonly statement: Statement<never, Row>;
  readonly values: object;
  readonly onNoRows: AppError | "stop" | undefined;
}

/** Writes that need the ids of the events stored by earlier ones of their transaction. It may run more than once. */
export type Later = () => readonly Write<unknown>[];

/** The rows that a statement returned, and the number of rows that it returned or changed. */
export interface WriteResult<Row> {
  readonly rows: readonly Row[];
  readonly changes: number;
}

/**
 * A statement for `Storage.atomically`. `onNoRows` decides what happens when it changes no row: an error
 * rolls back the transaction and is thrown; `"stop"` skips the remaining statements and commits.
 */
export function write<Values extends object, Row>(
  statement: Statement<Values, Row>,
  values: NoInfer<Values>,
  onNoRows?: AppError | "stop",
): Write<Row> {
  return { statement, values, onNoRows };
}
