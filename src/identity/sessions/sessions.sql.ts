import { and, desc, eq, gt, gte, lt, lte, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { allColumns, encoded, rowIf, shownColumns, statementsOver } from "../../db/statement.ts";
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

/** Touches no row if the actor has `max` of this kind that have not expired. */
export const insertIfRoom = statement<StoredSession & { now: Date; max: number }>()(
  (db, { sessions }, p) => {
    const { actor, kind, expiresAt } = sessions;
    const count = sql`(select count(*) from ${sessions} where ${actor} = ${p.actor} and ${kind} = ${p.kind} and ${expiresAt} > ${encoded(p.now, expiresAt)})`;
    return db.insert(sessions).select(rowIf(sessions, sql`${count} < ${p.max}`));
  },
  { contended: ({ actor }) => ({ table: sessionsTable, ids: [actor] }) },
);

export const sessionByHash = statement<Pick<StoredSession, "hash">>()((db, t, p) =>
  db.select(sessionColumns(t)).from(t.sessions).where(eq(t.sessions.hash, p.hash)).limit(1),
);

/** Those of an actor that began before a time. */
export const sessionsOf = statement<Pick<StoredSession, "actor"> & { until: Date }>()((db, t, p) =>
  db
    .select(sessionColumns(t))
    .from(t.sessions)
    .where(
      and(
        eq(t.sessions.actor, p.actor),
        lt(t.sessions.createdAt, encoded(p.until, t.sessions.createdAt)),
      ),
    ),
);

export const deleteSessionsOf = statement<{ actors: readonly string[] }>()(
  (db, { sessions }, p, dialect) =>
    db.delete(sessions).where(dialect.among(sessions.actor, p.actors)),
);

/** Ends the browsers of an actor that signed in at a time or later. */
export const deleteSessionsSince = statement<Pick<StoredSession, "actor"> & { since: Date }>()(
  (db, { sessions }, p) =>
    db
      .delete(sessions)
      .where(
        and(
          eq(sessions.actor, p.actor),
          eq(sessions.kind, "console"),
          gte(sessions.createdAt, encoded(p.since, sessions.createdAt)),
        ),
      ),
);

export const deleteSession = statement<Pick<StoredSession, "id">>()((db, { sessions }, p) =>
  db.delete(sessions).where(eq(sessions.id, p.id)),
);

export const sessionById = statement<Pick<StoredSession, "id">>()((db, t, p) =>
  db.select(sessionColumns(t)).from(t.sessions).where(eq(t.sessions.id, p.id)).limit(1),
);

/** Stores when a token was used, if the stored use is from `until` or before. */
export const updateLastUse = statement<Pick<StoredSession, "id"> & { now: Date; until: Date }>()(
  (db, { sessions }, p) => {
    const { id, lastUsedAt } = sessions;
    const isOld = sql`coalesce(${lastUsedAt}, 0) <= ${encoded(p.until, lastUsedAt)}`;
    return db
      .update(sessions)
      .set({ lastUsedAt: p.now })
      .where(and(eq(id, p.id), isOld));
  },
  { contended: ({ id }) => ({ table: sessionsTable, ids: [id] }) },
);

export const deleteExpiredSessions = statement<{ now: Date }>()((db, { sessions }, p) =>
  db.delete(sessions).where(lte(sessions.expiresAt, encoded(p.now, sessions.expiresAt))),
);

/** The browsers of an actor whose sessions have not expired, without the newest `keep`, newest first. */
export const oldSessions = statement<
  Pick<StoredSession, "actor"> & { now: Date; keep: number; limit: number }
>()((db, t, p) =>
  db
    .select(sessionColumns(t))
    .from(t.sessions)
    .where(
      and(
        eq(t.sessions.actor, p.actor),
        eq(t.sessions.kind, "console"),
        gt(t.sessions.expiresAt, encoded(p.now, t.sessions.expiresAt)),
      ),
    )
    .orderBy(desc(t.sessions.id))
    .limit(p.limit)
    .offset(p.keep),
);

export const sessionPages = pagesOver(tables)<ConsoleSession, "actor" | "kind">({
  table: (t) => t.sessions,
  select: (db, t) => db.select(sessionColumns(t)).from(t.sessions),
});
