import { type Column, Placeholder, type SQL, sql, type Table } from "drizzle-orm";

import type { AppError } from "../base/errors.ts";

import type { Definition, Definitions, RowOf, TablesOf } from "./table.ts";

/**
 * What Drizzle's builders for SQLite and PostgreSQL have in common, as narrow as our queries need.
 * A query written against it compiles once and runs on both.
 */
export interface Sql {
  select(): { from<T extends Table>(table: T): Select<RowOf<T>> };
  select<F extends Fields>(fields: F): { from(table: Table): Select<RowOfFields<F>> };
  insert<T extends Table>(table: T): { values(row: Assignments<T>): Insert };
  update<T extends Table>(
    table: T,
  ): { set(row: Partial<Assignments<T>>): { where(condition: SQL | undefined): WriteQuery } };
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
type Assignments<T extends Table> = { [K in keyof RowOf<T>]?: RowOf<T>[K] | SQL | Placeholder };

/** A finished query whose rows are `Row`. At run time it is a Drizzle builder. */
export interface Query<Row> {
  /** Never there at run time: carries the type of the rows. */
  readonly $row?: Row;
}
export interface Select<Row> extends Query<Row> {
  /** Only with named fields: a row then stays flat. */
  innerJoin(table: Table, on: SQL): Select<Row>;
  where(condition: SQL | undefined): Select<Row>;
  groupBy(...columns: (Column | SQL)[]): Select<Row>;
  orderBy(...terms: SQL[]): Select<Row>;
  limit(rows: number | Placeholder): Select<Row>;
  offset(rows: number | Placeholder): Select<Row>;
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

/** `parameters.name` is the placeholder of `values.name`: a name that is not in `Values` does not compile. */
export type Parameters<Values> = { readonly [Name in keyof Values]-?: Placeholder };

/** What the databases write each in their own way. */
export interface Dialect {
  /** The condition that `column` is one of the values of `list`. */
  among(column: Column, list: Placeholder): SQL;
  /** In lower case, letters beyond ASCII as they are. */
  lower(text: Column | Placeholder): SQL;
  /** A number for a new row that no other row has; PostgreSQL takes it from the sequence `<table>_<column>`. */
  nextNumber(column: Column): SQL;
  /**
   * The number up to which every row is committed or will never be. With several writers numbers do not
   * become visible in order: PostgreSQL asks the function `settled_<table>_<column>()`.
   */
  newestSettled(column: Column): SQL<number>;
  /** That `column` is one of those that `query` selects; rows that another transaction has locked are skipped. */
  amongUnlocked(column: Column, query: SQL): SQL;
}

/** A row by its number. */
interface ContendedRow {
  readonly table: Definition;
  readonly id: number;
}

/** A query as a value: written once, compiled by each dialect on first use, run with `Values`. */
export interface Statement<Values, Row> {
  /** The tables it names. */
  readonly definitions: Definitions;
  build(
    sql: Sql,
    tables: TablesOf<Definitions>,
    parameters: Parameters<Values>,
    dialect: Dialect,
  ): Query<Row>;
  /**
   * The row that many transactions want at once, where there is one. A database with many writers locks
   * those of a group beforehand and in one order, so that no two groups wait for each other.
   */
  contended?(values: Values): ContendedRow;
}

/**
 * Returns the function that defines statements over these tables. Define statements at module level or in
 * a cache, never per request: building and preparing a query costs 45–90 µs, running a prepared one 1–3 µs.
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
      options: Pick<Statement<Values, Row>, "contended"> = {},
    ): Statement<Values, Row> => ({
      definitions,
      // Guarantee: the compiler hands it the tables of these definitions, by the same names.
      build: (sql, tables, parameters, dialect) =>
        build(sql, tables as unknown as TablesOf<Defined>, parameters, dialect),
      ...options,
    });
}

/** A placeholder for every column of a table: `insert(t.events).values(allColumns(t.events))`. */
export function allColumns<T extends Table>(
  table: T,
  ...except: (keyof RowOf<T> & string)[]
): Assignments<T>;
export function allColumns(table: Table, ...except: string[]): Record<string, Placeholder> {
  return Object.fromEntries(
    Object.keys(table)
      .filter((field) => isColumnField(field) && !except.includes(field))
      .map((field) => [field, new Placeholder(field)]),
  );
}

/** Drizzle's tables for PostgreSQL also have a method. */
function isColumnField(field: string): boolean {
  return field !== "enableRLS";
}

/** The columns of a table without the fields of `except`: `select(columnsExcept(t.events, { body: null }))`. */
export function columnsExcept<T extends Table, Except extends object>(
  table: T,
  except: Except,
): Pick<T, Exclude<keyof RowOf<T>, keyof Except>>;
export function columnsExcept(table: Table, except: object): object {
  return Object.fromEntries(
    Object.entries(table).filter(([field]) => isColumnField(field) && !(field in except)),
  );
}

/** A placeholder that is encoded as `column` is; for use inside raw fragments. */
export function encoded(placeholder: Placeholder, column: Column): SQL {
  return sql`${sql.param(placeholder, column)}`;
}

/** A statement to run with its values. */
export interface Write<Row> {
  readonly statement: Statement<never, Row>;
  readonly values: object;
  readonly onNoRows: AppError | "stop" | undefined;
}

/** What a statement did: the rows it returned, and how many rows it returned or changed. */
export interface WriteResult<Row> {
  readonly rows: readonly Row[];
  readonly changes: number;
}

/**
 * A statement for `Storage.atomically`. `onNoRows` says what follows when it changes no row: an error
 * rolls back the transaction and is thrown; `"stop"` skips the statements that follow and commits.
 */
export function write<Values extends object, Row>(
  statement: Statement<Values, Row>,
  values: NoInfer<Values>,
  onNoRows?: AppError | "stop",
): Write<Row> {
  return { statement, values, onNoRows };
}
