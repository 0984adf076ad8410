import { and, asc, desc, eq, gt, type Placeholder, type SQL, sql } from "drizzle-orm";

import { bookingColumns } from "../booking/model/bookings.sql.ts";
import { encoded, statementsOver } from "../db/statement.ts";
import { tables } from "../schema/schema.ts";

import type { Row } from "./persons.sql.ts";

const statement = statementsOver(tables);

/** The texts from `from` to before `until`, which are those that begin with `from`. */
export interface Beginning {
  readonly from: string;
  readonly until: string;
  readonly limit: number;
}

type Places = Readonly<Record<"from" | "until", Placeholder>>;

const begins = (text: SQL, { from, until }: Places): SQL =>
  sql`${text} >= ${from} and ${text} < ${until}`;

export const newestUsers = statement<Pick<Beginning, "limit">>()((db, { users }, p) =>
  db.select().from(users).orderBy(desc(users.createdAt), desc(users.id)).limit(p.limit),
);

const usersWhose = (field: "email" | "name") =>
  statement<Beginning>()((db, { users }, p, dialect) => {
    const text = dialect.lower(users[field]);
    return db.select().from(users).where(begins(text, p)).orderBy(asc(text)).limit(p.limit);
  });

export const usersByEmailBeginning = usersWhose("email");
export const usersByNameBeginning = usersWhose("name");

export const contactsByBeginning = statement<Beginning>()((db, { bookings }, p, dialect) => {
  const text = dialect.lower(bookings.contactEmail);
  return db
    .select({ email: bookings.contactEmail })
    .from(bookings)
    .where(begins(text, p))
    .orderBy(asc(text))
    .limit(p.limit);
});

export const passengersByEmailBeginning = statement<Beginning>()((
  db,
  { passengers },
  p,
  dialect,
) => {
  const { firstName, lastName, email } = passengers;
  const text = dialect.lower(email);
  return db
    .select({ firstName, lastName, email })
    .from(passengers)
    .where(begins(text, p))
    .orderBy(asc(text))
    .limit(p.limit);
});

/** By the beginning of the last name, and of the first. */
export const passengersByNameBeginning = statement<
  Beginning & { readonly firstFrom: string; readonly firstUntil: string }
>()((db, { passengers }, p, dialect) => {
  const { firstName, lastName, lastNameFolded, email } = passengers;
  // The expression of the index.
  const text = sql`coalesce(${lastNameFolded}, ${dialect.lower(lastName)})`;
  const first = { from: p.firstFrom, until: p.firstUntil };
  return db
    .select({ firstName, lastName, email })
    .from(passengers)
    .where(and(begins(text, p), begins(dialect.lower(firstName), first)))
    .orderBy(asc(text))
    .limit(p.limit);
});

/** The bookings that a person made, is the contact of or travels on, newest first. As a union, so that each part uses its index. */
export const bookingsOfPerson = statement<Row>()((db, t, _, dialect) => {
  const { bookings, passengers, flights } = t;
  const email = dialect.lower(sql.placeholder("email"));
  const own = dialect.among(bookings.userId, sql.placeholder("ids"));
  const ids = sql`select ${bookings.id} from ${bookings} where ${own}
    union select ${bookings.id} from ${bookings} where ${dialect.lower(bookings.contactEmail)} = ${email}
    union select ${passengers.bookingId} from ${passengers} where ${dialect.lower(passengers.email)} = ${email}`;
  return db
    .select(bookingColumns(t))
    .from(bookings)
    .innerJoin(flights, eq(flights.id, bookings.flightId))
    .where(sql`${bookings.id} in (${ids})`)
    .orderBy(desc(bookings.createdAt), desc(bookings.id))
    .limit(sql.placeholder("limit"));
});

/** The roles of open sessions of any of the users. */
export const rolesOfUsers = statement<{
  readonly ids: readonly string[];
  readonly expiresAt: Date;
  readonly limit: number;
}>()((db, { sessions }, p, dialect) =>
  db
    .select({ roles: sessions.roles })
    .from(sessions)
    .where(
      and(
        dialect.among(sessions.actor, p.ids),
        gt(sessions.expiresAt, encoded(p.expiresAt, sessions.expiresAt)),
      ),
    )
    .limit(p.limit),
);
