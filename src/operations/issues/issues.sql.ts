import { eq, isNotNull, lte, type Placeholder, type SQL, sql } from "drizzle-orm";

import { timeOfPosition } from "../../base/ids.ts";
import { allColumns, encoded, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { eventId } from "../../event/event.sql.ts";
import { eventsTable } from "../../event/event.ts";
import { rejectionsTable } from "../../inbound/model/rejection.ts";
import { deliveriesTable } from "../../outbound/model/delivery.ts";
import type { Destination } from "../../outbound/model/destination.ts";
import { numberOf } from "../../outbound/model/destinations.sql.ts";

import { type Mute, mutesTable } from "./issue.ts";

const tables = {
  deliveries: deliveriesTable,
  events: eventsTable,
  mutes: mutesTable,
  rejections: rejectionsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** Rejected requests since a time by provider and reason. At most 200 of each provider are stored. */
export const rejectionGroups = statement<{ since: Date }>()((db, { rejections }, p) => {
  const { provider, reason, createdAt, id } = rejections;
  return db
    .select({
      provider,
      reason,
      count: counted(),
      firstMs: sql<number>`min(${createdAt})`.mapWith(Number),
      lastMs: sql<number>`max(${createdAt})`.mapWith(Number),
      lastId: sql<string>`max(${id})`,
    })
    .from(rejections)
    .where(sql`${createdAt} >= ${encoded(p.since, createdAt)}`)
    .groupBy(provider, reason);
});

interface Sample {
  readonly destinationId: Destination["id"];
  readonly limit: number;
}

/** The newest dead deliveries of a destination by provider and error. Reads the index of what is not delivered. */
export const deadGroups = groups(
  ({ deliveries: { notification, status } }, isThere, limit) =>
    sql`select ${notification} from deliveries where ${isThere} and ${status} = 'dead' and ${status} <> 'delivered' order by ${notification} desc limit ${limit}`,
);

const isDue = sql.raw("deliveries.due_at is not null and not deliveries.blocked");

/** As `deadGroups`, for waiting deliveries. Counts the first of each order key. Reads the index of due deliveries. */
export const waitingGroups = groups(
  ({ deliveries: { notification, dueAt } }, isThere, limit) =>
    sql`select ${notification} from deliveries where ${isThere} and ${isDue} order by ${dueAt} limit ${limit}`,
);

/** The most waiting deliveries that are searched for failed ones, from the last due. */
const maxWaitingRead = sql.raw("5000");

/** As `deadGroups`, for deliveries that are being retried. They are due after those that were not tried yet. */
export const retryingGroups = groups(
  ({ deliveries: { notification, status, dueAt } }, isThere, limit) =>
    sql`select waiting.notification from (select ${notification}, ${status} from deliveries where ${isThere} and ${isDue} order by ${dueAt} desc limit ${maxWaitingRead}) as waiting where waiting.status = 'retrying' limit ${limit}`,
);

/** `sample` selects the notifications of some deliveries to the destination. */
function groups(sample: (t: Tables, isThere: SQL, limit: Placeholder) => SQL) {
  return statement<Sample>()((db, t, p, dialect) => {
    const { destination, lastError, notification, event } = t.deliveries;
    const isThere = sql`${destination} = ${numberOf(p.destinationId)}`;
    return db
      .select({
        provider: t.events.provider,
        lastError,
        count: counted(),
        firstMs: sql<number>`min(${notification})`.mapWith(timeOf),
        lastMs: sql<number>`max(${notification})`.mapWith(timeOf),
        lastId: sql<string>`max(${eventId(t, dialect)})`,
      })
      .from(t.deliveries)
      .innerJoin(t.events, eq(t.events.position, event))
      .where(sql`${isThere} and ${notification} in (${sample(t, isThere, p.limit)})`)
      .groupBy(t.events.provider, lastError);
  });
}

const timeOf = (position: string) => timeOfPosition(position).getTime();

const counted = () => sql<number>`count(*)`.mapWith(Number);

export const allMutes = statement()((db, { mutes }) =>
  db.select().from(mutes).where(isNotNull(mutes.issueId)),
);

export const storeMute = statement<Mute>()((db, { mutes }, p) =>
  db
    .insert(mutes)
    .values(allColumns(mutes))
    .onConflictDoUpdate({
      target: [mutes.issueId],
      set: { until: encoded(p.until, mutes.until) },
    }),
);

export const deleteMute = statement<Pick<Mute, "issueId">>()((db, { mutes }, p) =>
  db.delete(mutes).where(eq(mutes.issueId, p.issueId)),
);

export const deleteEndedMutes = statement<{ now: Date }>()((db, { mutes }, p) =>
  db.delete(mutes).where(lte(mutes.until, encoded(p.now, mutes.until))),
);
