import { sql } from "drizzle-orm";

import { timeOfPosition } from "../../base/ids.ts";
import { statementsOver } from "../../db/statement.ts";
import { deliveriesTable } from "../model/delivery.ts";
import { destinationsTable } from "../model/destination.ts";
import { failedAttemptsTable } from "../model/notification.ts";

const statement = statementsOver({
  destinations: destinationsTable,
  deliveries: deliveriesTable,
  failedAttempts: failedAttemptsTable,
});

/** The most deliveries that are counted per destination and kind. */
export const maxCounted = 10_000;
/** The most waiting deliveries that are searched for the oldest, from the first due. */
const maxAged = 200;
/** The attempts that tell the success rate and response times. */
const recentAttempts = 100;

// Drizzle omits table names in a select, so they are written here.
const ofDestination = (table: string) => sql.raw(`${table}.destination = destinations.number`);

/** Counts deliveries of a destination that meet a condition, which has an index. */
function counted(condition: string) {
  return sql`(select count(*) from (select 1 from deliveries where ${ofDestination("deliveries")} and ${sql.raw(condition)} limit ${sql.raw(String(maxCounted + 1))}) as counted)`;
}

const due = "deliveries.due_at is not null and not deliveries.blocked";

/** The queue of a destination. Counts one more than `maxCounted` for a longer one. */
const queueFields = {
  waiting: sql<number>`${counted(due)} + ${counted("deliveries.blocked")}`.mapWith(Number),
  dead: sql<number>`${counted("deliveries.status = 'dead' and deliveries.status <> 'delivered'")}`.mapWith(
    Number,
  ),
  oldestWaitingMs: sql<
    number | null
  >`(select min(aged.notification) from (select deliveries.notification from deliveries where ${ofDestination("deliveries")} and ${sql.raw(due)} order by deliveries.due_at limit ${sql.raw(String(maxAged))}) as aged)`.mapWith(
    (position: string) => timeOfPosition(position).getTime(),
  ),
};

/** The queues of destinations, by index and in bounded time. */
export const queuesOf = statement<{ ids: readonly string[] }>()(
  (db, { destinations: { id }, destinations }, p, dialect) =>
    db
      .select({ id, ...queueFields })
      .from(destinations)
      .where(dialect.among(id, p.ids)),
);

/** The newest attempts of a destination, of those that succeeded and of those that failed. */
const newest = (limit: number) => {
  const end = sql.raw(`order by started_at desc limit ${limit}`);
  return sql`(select * from (select started_at, duration_ms, 1 as delivered, null as error from deliveries
      where ${ofDestination("deliveries")} and started_at is not null ${end}) as succeeded
    union all select * from (select started_at, duration_ms, 0, error from failed_attempts
      where ${ofDestination("failed_attempts")} ${end}) as failed) as recent ${end}`;
};

/**
 * The health of destinations. Reads a bounded number of index entries for each, whatever the size
 * of its queue and history.
 */
export const healthOf = statement<{ ids: readonly string[] }>()((
  db,
  { destinations: { id }, destinations },
  p,
  dialect,
) => {
  const outcome = sql`case when delivered = 1 then cast(duration_ms as text) else 'x' end`;
  return db
    .select({
      id,
      ...queueFields,
      lastAttemptMs: sql<number | null>`(select started_at from ${newest(1)})`.mapWith(Number),
      lastError: sql<string | null>`(select error from ${newest(1)})`,
      /** Newest first: the duration of a delivered attempt in milliseconds, `x` for a failed one. */
      outcomes: sql<
        string | null
      >`(select ${dialect.joined(outcome)} from (select delivered, duration_ms from ${newest(recentAttempts)}) as outcomes)`,
    })
    .from(destinations)
    .where(dialect.among(id, p.ids));
});
