import { and, desc, eq, isNotNull, type SQL, sql } from "drizzle-orm";

import { columnsOf, encoded, type Parameters, rowIf, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { sessionsTable } from "../../identity/sessions/session.ts";
import { type Destination, destinationsTable, type StoredDestination } from "../destination.ts";
import { attemptsTable } from "../notification.ts";

const tables = {
  destinations: destinationsTable,
  attempts: attemptsTable,
  sessions: sessionsTable,
};
const statement = statementsOver(tables);

interface At {
  readonly now: Date;
}

/** Only subscriptions have an end. */
const isLive = ({ destinations: { expiresAt } }: TablesOf<typeof tables>, p: Parameters<At>) =>
  sql`${expiresAt} > ${encoded(p.now, expiresAt)}`;

/** Its time is over, or its subscriber was a token that has ended. */
const hasEnded = (t: TablesOf<typeof tables>, p: Parameters<At>) => {
  const { id, expiresAt } = t.sessions;
  const { subscriber } = t.destinations;
  const token = sql`select 1 from ${t.sessions} where ${id} = ${subscriber} and ${expiresAt} > ${encoded(p.now, expiresAt)}`;
  return sql`(not ${isLive(t, p)} or (substr(${subscriber}, 1, 4) = 'ses_' and not exists (${token})))`;
};

/** Touches no row if there is one with this name, or no room. Insertions wait for each other and for those of others. */
export const insertSubscription = statement<
  StoredDestination & At & { maxOfSubscriber: number; maxLive: number }
>()(
  (db, t, p) => {
    const live = sql`select count(*) from ${t.destinations} where ${isLive(t, p)}`;
    const hasRoom = sql`(${live}) < ${p.maxLive} and (${live} and ${t.destinations.subscriber} = ${p.subscriber}) < ${p.maxOfSubscriber}`;
    return db.insert(t.destinations).select(rowIf(t.destinations, hasRoom)).onConflictDoNothing();
  },
  { contended: () => ({ table: destinationsTable, ids: [0] }) },
);

/** Ended ones too, until they are removed. */
export const allSubscriptions = statement()((db, { destinations }) =>
  db.select(columnsOf(destinations)).from(destinations).where(isNotNull(destinations.subscriber)),
);

export const endedSubscriptions = statement<At>()((db, t, p) =>
  db.select({ id: t.destinations.id }).from(t.destinations).where(hasEnded(t, p)),
);

/** Touches no row if it was refreshed meanwhile. */
export const deleteEnded = statement<Pick<Destination, "id"> & At>()((db, t, p) =>
  db.delete(t.destinations).where(and(eq(t.destinations.id, p.id), hasEnded(t, p))),
);

const newestAttempt = (which: SQL) =>
  statement<{ destinationId: Destination["id"] }>()((db, { attempts }, p) => {
    const { destinationId, startedAt, delivered, responseStatus, error } = attempts;
    return db
      .select({ startedAt, delivered, responseStatus, error })
      .from(attempts)
      .where(sql`${eq(destinationId, p.destinationId)} and ${which}`)
      .orderBy(desc(startedAt))
      .limit(1);
  });

export const lastAttempt = newestAttempt(sql`true`);
export const lastSuccess = newestAttempt(sql`delivered`);
