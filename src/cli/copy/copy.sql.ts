import { asc, type Column, desc, type Placeholder, type SQL, sql, type Table } from "drizzle-orm";

import { allColumns, encoded, type Statement, statementsOver } from "../../db/statement.ts";
import { tables } from "../../schema/schema.ts";

export type Row = Record<string, unknown>;

const statement = statementsOver(tables);

/** A table to copy: `key` orders its rows and tells them apart. */
export interface Copied {
  readonly name: Exclude<keyof typeof tables, "attempts">;
  readonly key: readonly string[];
}

/** Attempts have no key of their own and go with their notifications. */
export const tablesToCopy: readonly Copied[] = [
  { name: "users", key: ["id"] },
  { name: "clients", key: ["id"] },
  { name: "flights", key: ["id"] },
  { name: "bookings", key: ["id"] },
  { name: "passengers", key: ["bookingId", "position"] },
  { name: "disclosures", key: ["id"] },
  { name: "idempotency", key: ["scope", "key"] },
  { name: "events", key: ["id"] },
  { name: "notifications", key: ["seq"] },
  { name: "rejections", key: ["id"] },
  { name: "deliveryCounts", key: ["spanMinutes", "provider", "minute", "verdict"] },
  { name: "secretUses", key: ["provider", "secret"] },
];

/** Bodies may be large: of events, fewer at a time, and fewer still when theirs are. */
const eventsPageSize = 50;

export interface Size {
  readonly bodyBytes: number;
}

/** The first rows, or those after a place. */
export interface Pages<Found> {
  readonly first: Statement<Row, Found>;
  readonly after: Statement<Row, Found>;
}

export interface CopyStatements extends Pages<Row> {
  /** How large the rows of a page are, where some are too large for a page of many. */
  readonly sizes: Pages<Size> | null;
  readonly last: Statement<Row, Row>;
  readonly insert: Statement<Row, never>;
}

/** Of one table, whichever it is: its columns are found by name. */
export function statementsOf({ name, key }: Copied): CopyStatements {
  const fieldsOf = (table: Table) => key.map((field) => columnOf(table, field));
  const beyond = (fields: readonly Column[]) => {
    const place = fields.map((field, n) => encoded(sql.placeholder(key[n] ?? ""), field));
    return sql`(${list(fields)}) > (${list(place)})`;
  };
  const select = (limit: number | Placeholder, order: typeof asc, after: boolean) =>
    statement<Row>()((db, tables) => {
      const table: Table = tables[name];
      const fields = fieldsOf(table);
      return db
        .select()
        .from(table)
        .where(after ? beyond(fields) : undefined)
        .orderBy(...fields.map((field) => order(field)))
        .limit(limit);
    });
  const sizes = (after: boolean) =>
    statement<Row>()((db, { events }) =>
      db
        .select({ bodyBytes: events.bodyBytes })
        .from(events)
        .where(after ? beyond(fieldsOf(events)) : undefined)
        .orderBy(...fieldsOf(events).map((field) => asc(field)))
        .limit(eventsPageSize),
    );
  return {
    first: select(sql.placeholder("limit"), asc, false),
    after: select(sql.placeholder("limit"), asc, true),
    sizes: name === "events" ? { first: sizes(false), after: sizes(true) } : null,
    last: select(1, desc, false),
    insert: statement<Row>()((db, tables) => {
      const table: Table = tables[name];
      return db.insert(table).values(allColumns(table)).onConflictDoNothing();
    }),
  };
}

function list(parts: readonly (Column | SQL)[]): SQL {
  return sql.join([...parts], sql`, `);
}

function columnOf(table: Table, field: string): Column {
  // Guarantee: a table's columns are its properties, by the names of its row's fields.
  const column = (table as unknown as Readonly<Record<string, Column>>)[field];
  if (column === undefined) throw new Error(`There is no column ${field}`);
  return column;
}

export const attemptsOfMany = statement<{ ids: readonly string[] }>()(
  (db, { attempts }, p, dialect) =>
    db
      .select()
      .from(attempts)
      .where(dialect.among(attempts.notificationId, p.ids))
      .orderBy(asc(attempts.notificationId), asc(attempts.startedAt), asc(attempts.durationMs)),
);
export const deleteAttemptsOfMany = statement<{ ids: readonly string[] }>()(
  (db, { attempts }, p, dialect) =>
    db.delete(attempts).where(dialect.among(attempts.notificationId, p.ids)),
);
