import { sql } from "drizzle-orm";

import { leasedColumns } from "../notifications.ts";
import type { claimDue as onSqlite } from "../sqlite/claim.ts";
import { encoded, statement } from "../sql.ts";

/**
 * Leases due notifications to one notifier. What another one is just leasing is passed over, not waited
 * for; a lease that ran out counts as none.
 */
export const claimDue: typeof onSqlite = statement<{
  now: Date;
  leasedUntil: Date;
  limit: number;
}>()((db, { notifications }, p) => {
  const now = encoded(p.now, notifications.dueAt);
  return (
    db
      .update(notifications)
      .set({ leasedUntil: p.leasedUntil })
      // As an array, so that what is locked is chosen once.
      .where(
        sql`${notifications.seq} = any(array(
          select ${notifications.seq} from ${notifications}
          where ${notifications.dueAt} <= ${now}
            and (${notifications.leasedUntil} is null or ${notifications.leasedUntil} <= ${now})
          order by ${notifications.dueAt} limit ${p.limit} for update skip locked))`,
      )
      .returning(leasedColumns({ notifications }))
  );
});
