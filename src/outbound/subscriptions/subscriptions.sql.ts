import { and, desc, eq, type SQL, sql } from "drizzle-orm";

import { columnsOf, encoded, type Parameters, rowIf, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type Destination, destinationsTable, type StoredDestination } from "../destination.ts";
import { attemptsTable } from "../notification.ts";

const tables = { destinations: destinationsTable, attempts: attemptsTable };
const statement = statementsOver(tables);

interface At {
  readonly now: Date;
}

/** Only subscriptions have an end. */
const isLive = ({ destinations: { expiresAt } }: TablesOf<typeof tables>, p: Parameters<At>) =>
  sql`${expiresAt} > ${encoded(p.now, expiresAt)}`;

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

/** All of a subscriber, ended ones too. */
export const subscriptionsOf = statement<{ subscriber: string }>()((db, { destinations }, p) =>
  db
    .select(columnsOf(destinations))
    .from(destinations)
    .where(eq(destinations.subscriber, p.subscriber)),
);

export const endedSubscriptions = statement<At>()((db, t, p) =>
  db
    .select({ id: t.destinations.id })
    .from(t.destinations)
    .where(sql`not ${isLive(t, p)}`),
);

/** Touches no row if it was refreshed meanwhile. */
export const deleteEnded = statement<Pick<Destination, "id"> & At>()((db, t, p) =>
  db.delete(t.destinations).where(and(eq(t.destinations.id, p.id), sql`not ${isLive(t, p)}`)),
);

/** Touches no row if it changed since `before`. */
export const refreshSubscription = statement<
  Pick<
    StoredDestination,
    "id" | "state" | "disabledReason" | "sealed" | "expiresAt" | "updatedAt"
  > & { before: Date }
>()((db, { destinations }, p) =>
  db
    .update(destinations)
    .set({
      state: p.state,
      disabledReason: p.disabledReason,
      sealed: p.sealed,
      expiresAt: p.expiresAt,
      updatedAt: p.updatedAt,
    })
    .where(
      and(
        eq(destinations.id, p.id),
        eq(destinations.updatedAt, encoded(p.before, destinations.updatedAt)),
      ),
    ),
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
