import { and, asc, eq, type SQL, sql, type Table } from "drizzle-orm";

import { columnList, columnOf, isAfterRow } from "../db/columns.ts";
import { type Dialect, encoded, rowsAs, type Statement, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";
import { tables } from "../schema/schema.ts";

import { type Link, linkedTables, type LinkKind, type TableName } from "./links.ts";

export type Row = Readonly<Record<string, unknown>>;

const statement = statementsOver(tables);

/** The statements of a link, made from its definition. */
export interface LinkStatements extends Pick<Link, "by"> {
  readonly name: TableName;
  readonly key: readonly string[];
  /** Reads the rows in the order of the key, from the first or after one. */
  readonly first: Statement<Row, Row>;
  readonly after: Statement<Row, Row>;
  /** Erases the rows, at most `limit` of them unless they are of bookings. Null if they stay. */
  readonly erasing: Statement<Row, never> | null;
}

// Guarantee: these are the keys of the object.
const linkStatements = (Object.keys(linkedTables) as TableName[]).flatMap((name) =>
  linkedTables[name].links.map((link): LinkStatements => {
    const { key } = linkedTables[name].definition;
    const read = (isAfter: boolean) => reading(name, link, isAfter);
    const erasing = erasingOf(name, link);
    return { name, key, by: link.by, first: read(false), after: read(true), erasing };
  }),
);

/** The links of all tables by what they hold. */
export const linksBy = (...kinds: readonly LinkKind[]): readonly LinkStatements[] =>
  linkStatements.filter(({ by }) => kinds.includes(by));

function reading(name: TableName, link: Link, isAfter: boolean): Statement<Row, Row> {
  const { key } = linkedTables[name].definition;
  return statement<Row>()((db, { [name]: found }, _, dialect) => {
    const table: Table = found;
    const keys = key.map((field) => columnOf(table, field));
    return db
      .select()
      .from(table)
      .where(and(matching(table, link, dialect), isAfter ? isAfterRow(keys, key) : undefined))
      .orderBy(...keys.map((column) => asc(column)))
      .limit(sql.placeholder("limit"));
  });
}

function matching(table: Table, { by, column: field }: Link, dialect: Dialect): SQL {
  const column = columnOf(table, field);
  if (by === "email") return eq(dialect.lower(column), dialect.lower(sql.placeholder("email")));
  const lists = { id: "ids", booking: "bookings", scope: "scopes" };
  return dialect.among(column, sql.placeholder(lists[by]));
}

function erasingOf(name: TableName, link: Link): Statement<Row, never> | null {
  const { erase } = link;
  if (erase === "keep") return null;
  return statement<Row>()((db, { [name]: found }, _, dialect) => {
    const table: Table = found;
    const match = matching(table, link, dialect);
    const keys = columnList(
      linkedTables[name].definition.key.map((field) => columnOf(table, field)),
    );
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

/** Matches bookings that hold seats of a flight that has not departed: their passengers are needed. */
function isOpen({ bookings, flights }: Pick<TablesOf<typeof tables>, "bookings" | "flights">): SQL {
  const { departureTime } = flights;
  return sql`${bookings.status} in ('held', 'confirmed') and ${departureTime} > ${encoded(sql.placeholder("now"), departureTime)}`;
}

const openBookingsBy = (by: "id" | "email" | "passenger") =>
  statement<Row>()((db, { bookings, flights, passengers }, _, dialect) => {
    const email = dialect.lower(sql.placeholder("email"));
    const match = {
      id: dialect.among(bookings.userId, sql.placeholder("ids")),
      email: eq(dialect.lower(bookings.contactEmail), email),
      passenger: sql`${bookings.id} in (select ${passengers.bookingId} from ${passengers} where ${dialect.lower(passengers.email)} = ${email} and ${passengers.cancelledAt} is null)`,
    };
    return db
      .select({
        bookingId: bookings.id,
        reference: bookings.reference,
        departureTime: flights.departureTime,
      })
      .from(bookings)
      .innerJoin(flights, eq(flights.id, bookings.flightId))
      .where(and(match[by], isOpen({ bookings, flights })));
  });

/** What blocks an erasure. */
export const openBookings = [
  openBookingsBy("id"),
  openBookingsBy("email"),
  openBookingsBy("passenger"),
];

/** Returns a row unless one of the users has an open booking. */
export const requireNoneOpen = statement<Row>()((db, t, _, dialect) => {
  const { bookings, flights } = t;
  const own = dialect.among(bookings.userId, sql.placeholder("ids"));
  const row = sql`select 1 where not exists (select 1 from ${bookings} inner join ${flights} on ${flights.id} = ${bookings.flightId} where ${own} and ${isOpen(t)})`;
  return db.select({ one: sql<number>`1` }).from(rowsAs(bookings, row));
});
