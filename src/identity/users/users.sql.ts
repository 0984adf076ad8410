import { eq } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { allColumns, statementsOver } from "../../db/statement.ts";

import { type User, usersTable } from "./user.ts";

const tables = { users: usersTable };
const statement = statementsOver(tables);

/** Touches no row when the e-mail address is taken, ignoring case. */
export const insertUser = statement<User>()((db, { users }) =>
  db.insert(users).values(allColumns(users)).onConflictDoNothing(),
);

export const userByEmail = statement<Pick<User, "email">>()((db, { users }, p, dialect) =>
  db
    .select()
    .from(users)
    .where(eq(dialect.lower(users.email), dialect.lower(p.email)))
    .limit(1),
);

export const userById = statement<Pick<User, "id">>()((db, { users }, p) =>
  db.select().from(users).where(eq(users.id, p.id)).limit(1),
);

export const usersByIds = statement<{ ids: readonly User["id"][] }>()((db, { users }, p, dialect) =>
  db.select().from(users).where(dialect.among(users.id, p.ids)),
);

export const userPages = pagesOver(tables)<User, never>({
  table: (t) => t.users,
  select: (db, t) => db.select().from(t.users),
});
