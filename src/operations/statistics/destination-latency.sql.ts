import { and, desc, eq, gte, lt } from "drizzle-orm";

import { encoded, statementsOver } from "../../db/statement.ts";
import { deliveriesTable } from "../../outbound/model/delivery.ts";
import type { Destination } from "../../outbound/model/destination.ts";
import { numberOf } from "../../outbound/model/destinations.sql.ts";
import { failedAttemptsTable } from "../../outbound/model/notification.ts";

const statement = statementsOver({ failed: failedAttemptsTable, deliveries: deliveriesTable });

interface Interval {
  readonly destinationId: Destination["id"];
  readonly from: Date;
  /** Excluded. */
  readonly to: Date;
  readonly limit: number;
}

const newestIn = (table: "deliveries" | "failed") =>
  statement<Interval>()((db, tables, p) => {
    const { destination, notification, startedAt, durationMs } = tables[table];
    return db
      .select({ notification, startedAt, durationMs })
      .from(tables[table])
      .where(
        and(
          eq(destination, numberOf(p.destinationId)),
          gte(startedAt, encoded(p.from, startedAt)),
          lt(startedAt, encoded(p.to, startedAt)),
        ),
      )
      .orderBy(desc(startedAt))
      .limit(p.limit);
  });

/** The newest attempts of a destination that succeeded and started in an interval. */
export const successesIn = newestIn("deliveries");

/** The newest attempts that failed and started in an interval. */
export const failuresIn = newestIn("failed");
