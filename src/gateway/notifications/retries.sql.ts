import { and, eq, sql } from "drizzle-orm";

import { encoded, statementsOver } from "../../db/statement.ts";
import { eventsTable } from "../event.ts";
import { deliveriesTable, type StoredDelivery } from "../outgoing-delivery.ts";

const tables = { deliveries: deliveriesTable, events: eventsTable };
const statement = statementsOver(tables);

/** Where a read of a destination's deliveries continues. */
interface Place extends Pick<StoredDelivery, "destinationId"> {
  readonly limit: number;
}

/** The dead deliveries of a destination that were created after one of them, oldest first. Reads their index. */
export const deadAfter = statement<Place & { readonly after: Date; readonly afterId: string }>()((
  db,
  t,
  p,
) => {
  const { seq, id, lastError, eventId, destinationId, status, createdAt } = t.deliveries;
  const after = encoded(p.after, createdAt);
  return db
    .select({ seq, id, createdAt, lastError, eventId, provider: t.events.provider })
    .from(t.deliveries)
    .innerJoin(t.events, eq(t.events.id, eventId))
    .where(
      sql`${destinationId} = ${p.destinationId} and ${status} = 'dead' and (${createdAt}, ${id}) > (${after}, ${p.afterId})`,
    )
    .orderBy(sql`${createdAt}`, sql`${id}`)
    .limit(p.limit);
});

/** The deliveries of a destination that failed and are due after one of them. Reads the index of unsettled ones. */
export const waitingAfter = statement<
  Place & { readonly after: Date; readonly afterSeq: StoredDelivery["seq"] }
>()((db, t, p) => {
  const { seq, lastError, eventId, destinationId, status, dueAt } = t.deliveries;
  const [after, afterSeq] = [encoded(p.after, dueAt), encoded(p.afterSeq, seq)];
  return db
    .select({ seq, dueAt, lastError, eventId, provider: t.events.provider })
    .from(t.deliveries)
    .innerJoin(t.events, eq(t.events.id, eventId))
    .where(
      sql`${destinationId} = ${p.destinationId} and ${dueAt} is not null and ${status} = 'retrying' and (${dueAt}, ${seq}) > (${after}, ${afterSeq})`,
    )
    .orderBy(sql`${dueAt}`, sql`${seq}`)
    .limit(p.limit);
});

interface These {
  readonly seqs: readonly StoredDelivery["seq"][];
  readonly now: Date;
}

/** Makes these deliveries due now, with all attempts left, if they are still dead. */
export const retryDead = statement<These>()((db, { deliveries }, p, dialect) =>
  db
    .update(deliveries)
    .set({ status: "pending", attemptCount: 0, dueAt: encoded(p.now, deliveries.dueAt) })
    .where(and(dialect.among(deliveries.seq, p.seqs), sql`${deliveries.status} = 'dead'`)),
);

/** Makes these deliveries due now, if they still wait. */
export const retryWaiting = statement<These>()((db, { deliveries }, p, dialect) =>
  db
    .update(deliveries)
    .set({ dueAt: encoded(p.now, deliveries.dueAt) })
    .where(
      and(
        dialect.among(deliveries.seq, p.seqs),
        sql`${deliveries.dueAt} > ${encoded(p.now, deliveries.dueAt)}`,
      ),
    ),
);
