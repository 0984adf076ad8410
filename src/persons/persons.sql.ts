import { and, asc, type Column, eq, gt, type SQL, sql, type Table } from "drizzle-orm";

import { beyond, columnList, columnOf } from "../db/columns.ts";
import { type Dialect, encoded, type Statement, statementsOver } from "../db/statement.ts";
import { indexCommandsTable } from "../events/event-index.ts";
import { tables } from "../schema/schema.ts";

import {
  columnsOfClass,
  type Link,
  type PersonalTable,
  personalTables,
  type TableName,
} from "./personal-columns.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Statements that read a table from its start, or after a row, in the order of its key. */
export interface Pages {
  readonly first: Statement<Row, Row>;
  readonly after: Statement<Row, Row>;
}

export interface LinkStatements extends Link {
  readonly pages: Pages;
  /** Erases the rows, at most `limit` of them unless they are of bookings. Null if they stay. */
  readonly erasing: Statement<Row, never> | null;
}

/** The statements of a table, made from its definition. */
export interface TableStatements {
  readonly name: TableName;
  readonly of: PersonalTable;
  readonly links: readonly LinkStatements[];
  /** What is searched: the key and the texts. Null if there are none. */
  readonly texts: {
    readonly pages: Pages;
    readonly set: Statement<Row, never>;
  } | null;
  readonly delete: Statement<Row, never>;
}

const statement = statementsOver(tables);

// Guarantee: these are the keys of the object.
export const tableStatements = (Object.keys(personalTables) as TableName[]).map(statementsOf);

function statementsOf(name: TableName): TableStatements {
  const of: PersonalTable = personalTables[name];
  const { key } = of;
  const texts = columnsOfClass(of, "text");
  return {
    name,
    of,
    links: of.links.map((link) => ({
      ...link,
      pages: pagesOf(name, (table, dialect) => matching(table, link, dialect)),
      erasing: erasing(name, link),
    })),
    texts:
      texts.length === 0 || key.length === 0
        ? null
        : {
            pages: pagesOf(name, () => undefined, [
              ...new Set([...key, ...texts, ...shownIdOf(of)]),
            ]),
            set: statement<Row>()((db, { [name]: found }) => {
              const table: Table = found;
              const values = Object.fromEntries(texts.map((text) => [text, sql.placeholder(text)]));
              return db.update(table).set(values).where(isRow(table, key));
            }),
          },
    delete: statement<Row>()((db, { [name]: table }) => db.delete(table).where(isRow(table, key))),
  };
}

/** The id by which the API shows a row, where the key has another. */
function shownIdOf({ definition: { columns } }: PersonalTable): readonly string[] {
  return "id" in columns ? ["id"] : [];
}

/** `fields`: what is selected; by default everything. */
function pagesOf(
  name: TableName,
  match: (table: Table, dialect: Dialect) => SQL | undefined,
  fields?: readonly string[],
): Pages {
  const { key } = personalTables[name];
  const read = (isAfter: boolean) =>
    statement<Row>()((db, { [name]: found }, _, dialect) => {
      const table: Table = found;
      const keys = key.map((field) => columnOf(table, field));
      const selected = fields && Object.fromEntries(fields.map((f) => [f, columnOf(table, f)]));
      return (selected === undefined ? db.select().from(table) : db.select(selected).from(table))
        .where(and(match(table, dialect), isAfter ? beyond(keys, key) : undefined))
        .orderBy(...keys.map((column) => asc(column)))
        .limit(sql.placeholder("limit"));
    });
  return { first: read(false), after: read(true) };
}

function matching(table: Table, { by, column: field }: Link, dialect: Dialect): SQL {
  const column = columnOf(table, field);
  if (by === "email") return eq(dialect.lower(column), dialect.lower(sql.placeholder("email")));
  const lists = { id: "ids", booking: "bookings", scope: "scopes" };
  return dialect.among(column, sql.placeholder(lists[by]));
}

function erasing(name: TableName, link: Link): Statement<Row, never> | null {
  const { erase } = link;
  if (erase === "keep") return null;
  return statement<Row>()((db, { [name]: found }, _, dialect) => {
    const table: Table = found;
    const match = matching(table, link, dialect);
    const keys = columnList(personalTables[name].key.map((field) => columnOf(table, field)));
    const some = sql`(${keys}) in (select ${keys} from ${table} where ${match} order by ${keys} limit ${sql.placeholder("limit")})`;
    const where = link.by === "booking" ? match : some;
    if (erase === "delete") return db.delete(table).where(where);
    const values = Object.entries(erase).map(([field, by]) => {
      const value = by === "pseudonym" ? sql.placeholder("pseudonym") : noAddress;
      return [field, sql`case when ${columnOf(table, field)} is not null then ${value} end`];
    });
    return db.update(table).set(Object.fromEntries(values)).where(where);
  });
}

/** Stands for an erased e-mail address. `.invalid` is the domain of no one (RFC 2606). */
export const noAddress = "erased@erased.invalid";

/** True for the row whose key the placeholders have. */
function isRow(table: Table, key: readonly string[]): SQL | undefined {
  return and(
    ...key.map((field) => {
      const column: Column = columnOf(table, field);
      return sql`${column} = ${encoded(sql.placeholder(field), column)}`;
    }),
  );
}

/** The sizes of the bodies after an event, so that large ones are read in smaller pages. */
export const bodySizes = statement<{ id: string; limit: number }>()((db, { events }, p) =>
  db
    .select({
      bytes: sql<number>`case when ${events.body} is null then 0 else ${events.bodyBytes} end`,
    })
    .from(events)
    .where(gt(events.id, p.id))
    .orderBy(asc(events.id))
    .limit(p.limit),
);

/** A booking that holds seats of a flight that has not departed: its passengers are needed. */
const openBookingBy = (by: "id" | "email" | "passenger") =>
  statement<Row>()((db, { bookings, flights, passengers }, _, dialect) => {
    const email = dialect.lower(sql.placeholder("email"));
    const match = {
      id: dialect.among(bookings.userId, sql.placeholder("ids")),
      email: eq(dialect.lower(bookings.contactEmail), email),
      passenger: sql`${bookings.id} in (select ${passengers.bookingId} from ${passengers} where ${dialect.lower(passengers.email)} = ${email} and ${passengers.cancelledAt} is null)`,
    };
    return db
      .select({ reference: bookings.reference, departureTime: flights.departureTime })
      .from(bookings)
      .innerJoin(flights, eq(flights.id, bookings.flightId))
      .where(
        and(
          match[by],
          sql`${bookings.status} in ('held', 'confirmed')`,
          gt(flights.departureTime, encoded(sql.placeholder("now"), flights.departureTime)),
        ),
      )
      .limit(1);
  });

/** What blocks an erasure. */
export const openBookings = [
  openBookingBy("id"),
  openBookingBy("email"),
  openBookingBy("passenger"),
];

/** Indexes events again whose texts were changed: the database indexes those whose rows are deleted. */
export const indexAgain = statement<{ ids: readonly unknown[] }>()(
  (db, { searchQueue }, p, dialect) =>
    db.delete(searchQueue).where(dialect.among(searchQueue.eventId, p.ids)),
);

/** Rewrites the full-text index, which otherwise keeps the former words of a changed event for a while. Only on SQLite. */
export const rewriteIndex = statementsOver({ commands: indexCommandsTable })()((db, { commands }) =>
  db.insert(commands).values({ eventWords: sql`'optimize'`, rank: sql`null` }),
);
