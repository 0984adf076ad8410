import { eq, sql } from "drizzle-orm";

import type { User } from "../users/user.ts";

import { allColumns, statement } from "./sql.ts";

/** Touches no row when the e-mail address is taken, in whatever case. */
export const insertUser = statement<User>()((db, { users }) =>
  db.insert(users).values(allColumns(users)).onConflictDoNothing(),
);

export const userByEmail = statement<Pick<User, "email">>()((db, { users }, p) =>
  db
    .select()
    .from(users)
    .where(eq(sql`lower(${users.email})`, sql`lower(${p.email})`))
    .limit(1),
);
