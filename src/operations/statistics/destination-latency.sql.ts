import { and, desc, eq, gte, lt } from "drizzle-orm";

import { encoded, statementsOver } from "../../db/statement.ts";
import { type Attempt, attemptsTable } from "../../outbound/notification.ts";

const statement = statementsOver({ attempts: attemptsTable });

interface Interval extends Pick<Attempt, "destinationId"> {
  readonly from: Date;
  /** Excluded. */
  readonly to: Date;
  readonly limit: number;
}

/** The newest attempts of a destination that started in an interval. */
export const attemptsIn = statement<Interval>()((db, { attempts }, p) => {
  const { destinationId, notificationId, startedAt, durationMs, delivered, error } = attempts;
  return db
    .select({ notificationId, startedAt, durationMs, delivered, error })
    .from(attempts)
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
