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

export const dialect: Dialect = {
  among(column: Column, list: Placeholder) {
    // Without the cast, the list has the column's type, and an id beyond its range is an error, not a miss.
    return column.dataType === "number"
      ? sql`${column} = any(${list}::bigint[])`
      : sql`${column} = any(${list})`;
  },
  lookedUp(column: Column, list: Placeholder) {
    const { table } = column;
    const values = sql`select distinct unnest(${list}::${sql.raw(column.getSQLType())}[]) as value`;
    // A subquery with an offset is planned by itself, for one value.
    const found = sql`select * from ${table} where ${column} = wanted.value offset 0`;
    const rows = sql`select found.* from (${values}) as wanted cross join lateral (${found}) as found`;
    return rowsAs(table, rows);
  },
  rows(list: Placeholder, columns: Readonly<Record<string, Column>>, alias: string) {
    const values = sql.param(list, { mapToDriverValue: rowsAsJson(columns) });
    const fields = Object.entries(columns).map(
      ([name, column], index) =>
        sql`(value ->> ${sql.raw(String(index))})::${sql.raw(column.getSQLType())} as ${sql.identifier(name)}`,
    );
    // Text first: the driver would encode a parameter of the type jsonb once more.
    return sql`(select ${sql.join(fields, sql`, `)} from jsonb_array_elements(${values}::text::jsonb)) as ${sql.identifier(alias)}`;
  },
  nextKey: nextOfSequence,
  // Instances insert concurrently, so `max(column) + 1` is not unique.
  nextNumber: nextOfSequence,
  lower(text: Column | Placeholder): SQL {
    // A parameter has the default collation of the database, whose lower case may differ from the index's.
    return sql`lower(${text} collate "C")`;
  },
  newestSettled() {
    return sql<number>`settled_position()`.mapWith(Number);
  },
  idOf<Prefix extends string>(prefix: Prefix, position: Column, tail: Column) {
    const name = sql.raw(`'${prefix}_'`);
    return sql<`${Prefix}_${string}`>`${name} || lpad(to_hex(${position} >> 10), 12, '0') || '7' || lpad(to_hex((${position} & 1023) << 2), 3, '0') || '800' || lpad(to_hex(${tail}), 13, '0')`;
  },
  joined: (text: SQL) => sql<string | null>`string_agg(${text}, ',')`,
  unlocked(query: SQL, alias: string) {
    // Materialized, so that the query runs, and locks rows, once.
    return sql`(with unlocked as materialized (${query} for update skip locked) select * from unlocked) as ${sql.identifier(alias)}`;
  },
  matches(index: Table, terms: Placeholder) {
    const query = sql.param<unknown, string>(terms, {
      // Guarantee: the values of statements with `matches` are typed by `searchesOver`.
      mapToDriverValue: (value) => queryText(value as readonly SearchTerm[]),
    });
    return sql`${index}.words @@ ${query}::tsquery`;
  },
  vectorOf: (words: SQL) => sql`${words}::tsvector`,
  matchesByRowid: false,
  isPartitioned: true,
};

function nextOfSequence(column: Column): SQL {
  return sql`nextval(${sql.raw(`'${getTableName(column.table)}_${column.name}'`)})`;
}

/** A tsquery. Words have only letters, digits and marks, so no quote must be escaped. */
function queryText(terms: readonly SearchTerm[]): string {
  const phrases = terms.map(({ words, isPrefix }) => {
    const quoted = words.map((word) => `'${word}'`).join(" <-> ");
    return `(${quoted}${isPrefix ? ":*" : ""})`;
  });
  return phrases.join(" & ");
}
