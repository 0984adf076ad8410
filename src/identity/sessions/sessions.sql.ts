import { and, desc, eq, gt, lte } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { allColumns, encoded, shownColumns, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";

import {
  type ConsoleSession,
  sessionSchema,
  sessionsTable,
  type StoredSession,
} from "./session.ts";

const tables = { sessions: sessionsTable };
const statement = statementsOver(tables);

const sessionColumns = ({ sessions }: TablesOf<typeof tables>) =>
  shownColumns(sessions, sessionSchema.properties);

export const insertSession = statement<StoredSession>()((db, { sessions }) =>
  db.insert(sessions).values(allColumns(sessions)),
);

export const sessionByHash = statement<Pick<StoredSession, "hash">>()((db, t, p) =>
  db.select(sessionColumns(t)).from(t.sessions).where(eq(t.sessions.hash, p.hash)).limit(1),
);

export const deleteSession = statement<Pick<StoredSession, "id">>()((db, t, p) =>
  db.delete(t.sessions).where(eq(t.sessions.id, p.id)).returning(sessionColumns(t)),
);

export const deleteExpiredSessions = statement<{ now: Date }>()((db, { sessions }, p) =>
  db.delete(sessions).where(lte(sessions.expiresAt, encoded(p.now, sessions.expiresAt))),
);

/** The sessions of an actor that have not expired, without the newest `keep`, newest first. */
export const oldSessions = statement<
  Pick<StoredSession, "actor"> & { now: Date; keep: number; limit: number }
>()((db, t, p) =>
  db
    .select(sessionColumns(t))
    .from(t.sessions)
    .where(
      and(
        eq(t.sessions.actor, p.actor),
        gt(t.sessions.expiresAt, encoded(p.now, t.sessions.expiresAt)),
      ),
    )
    .orderBy(desc(t.sessions.id))
    .limit(p.limit)
    .offset(p.keep),
);

export const sessionPages = pagesOver(tables)<ConsoleSession, never>({
  table: (t) => t.sessions,
  select: (db, t) => db.select(sessionColumns(t)).from(t.sessions),
});
