import {
  type Column,
  getTableName,
  type Placeholder,
  type SQL,
  sql,
  type Table,
} from "drizzle-orm";

import type { SearchTerm } from "../../base/search-terms.ts";
import { rowsAsJson } from "../rows-as-json.ts";
import { type Dialect, rowsAs } from "../statement.ts";

/** SQLite cannot bind lists, so they are passed as JSON. The column's index is still used. */
export const dialect: Dialect = {
  among,
  lookedUp(column: Column, list: Placeholder) {
    const { table } = column;
    const rows = sql`select * from ${table} where ${among(column, list)}`;
    return rowsAs(table, rows);
  },
  rows(list: Placeholder, columns: Readonly<Record<string, Column>>, alias: string) {
    const values = sql.param(list, { mapToDriverValue: rowsAsJson(columns) });
    const fields = Object.keys(columns).map(
      (name, index) => sql`value ->> ${sql.raw(String(index))} as ${sql.identifier(name)}`,
    );
    return sql`(select ${sql.join(fields, sql`, `)} from json_each(${values})) as ${sql.identifier(alias)}`;
  },
  lower(text: Column | Placeholder) {
    return sql`lower(${text})`;
  },
  nextKey: () => sql`null`,
  nextNumber(column: Column) {
    return sql`(select coalesce(max(${column}), 0) + 1 from ${column.table})`;
  },
  // SQLite has one writer at a time, so events become visible in the order of their positions.
  newestSettled(position: Column) {
    return sql<number>`coalesce(max(${position}), 0)`.mapWith(Number);
  },
  idOf<Prefix extends string>(prefix: Prefix, position: Column, tail: Column) {
    const format = sql.raw(`'${prefix}_%012x7%03x800'`);
    const start = sql`printf(${format}, ${position} >> 10, (${position} & 1023) << 2)`;
    return sql<`${Prefix}_${string}`>`${start} || printf('%013x', ${tail})`;
  },
  joined: (text: SQL) => sql<string | null>`group_concat(${text}, ',')`,
  // SQLite has one writer at a time, so no row is locked by another transaction.
  unlocked: (query: SQL, alias: string) => sql`(${query}) as ${sql.identifier(alias)}`,
  matches(index: Table, terms: Placeholder) {
    const query = sql.param<unknown, string>(terms, {
      // Guarantee: the values of statements with `matches` are typed by `searchesOver`.
      mapToDriverValue: (value) => matchText(value as readonly SearchTerm[]),
    });
    return sql`${sql.identifier(getTableName(index))} match ${query}`;
  },
  vectorOf: (words: SQL) => words,
  matchesByRowid: true,
  isPartitioned: false,
};

function among(column: Column, list: Placeholder): SQL {
  const values = sql.param(list, { mapToDriverValue: JSON.stringify });
  return sql`${column} in (select value from json_each(${values}))`;
}

/** A query of FTS5 (sqlite.org/fts5.html, section 3). Words have only letters, digits and marks, so none is syntax. */
function matchText(terms: readonly SearchTerm[]): string {
  return terms.map(termText).join(" AND ");
}

/** FTS5 reads all matches of a prefix at once, but those of words one by one, so known words replace it. */
function termText({ words, isPrefix, lastWords }: SearchTerm): string {
  if (lastWords === undefined) return `"${words.join(" ")}"${isPrefix ? " *" : ""}`;
  const phrases = lastWords.map((last) => `"${[...words.slice(0, -1), last].join(" ")}"`);
  return `(${phrases.join(" OR ")})`;
}
