import { and, desc, eq, gte, lt } from "drizzle-orm";

import { encoded, statementsOver } from "../../db/statement.ts";
import { deliveriesTable, type StoredDelivery } from "../../outbound/delivery.ts";
import { failedAttemptsTable } from "../../outbound/notification.ts";

const statement = statementsOver({ failed: failedAttemptsTable, deliveries: deliveriesTable });

interface Interval extends Pick<StoredDelivery, "destinationId"> {
  readonly from: Date;
  /** Excluded. */
  readonly to: Date;
  readonly limit: number;
}

/** The newest attempts of a destination that succeeded and started in an interval. */
export const successesIn = statement<Interval>()((db, { deliveries }, p) => {
  const { destinationId, notification, startedAt, durationMs } = deliveries;
  return db
    .select({ notification, startedAt, durationMs })
    .from(deliveries)
    .where(
      and(
        eq(destinationId, p.destinationId),
        gte(startedAt, encoded(p.from, startedAt)),
        lt(startedAt, encoded(p.to, startedAt)),
      ),
    )
    .orderBy(desc(startedAt))
    .limit(p.limit);
});

/** The same of those that failed. */
export const failuresIn = statement<Interval>()((db, { failed }, p) => {
  const { destinationId, notification, startedAt, durationMs } = failed;
  return db
    .select({ notification, startedAt, durationMs })
    .from(failed)
    .where(
      and(
        eq(destinationId, p.destinationId),
        gte(startedAt, encoded(p.from, startedAt)),
        lt(startedAt, encoded(p.to, startedAt)),
      ),
    )
    .orderBy(desc(startedAt))
    .limit(p.limit);
});
