import { sql } from "drizzle-orm";

import { leasedColumns } from "../notifications.ts";
import { encoded, statement } from "../sql.ts";

/**
 * Leases due notifications to one notifier. SQLite has one writer at a time, so a guarded update is
 * enough; a lease that ran out counts as none.
 */
export const claimDue = statement<{ now: Date; leasedUntil: Date; limit: number }>()((
  db,
  { notifications },
  p,
) => {
  const now = encoded(p.now, notifications.dueAt);
  return db
    .update(notifications)
    .set({ leasedUntil: p.leasedUntil })
    .where(
      sql`${notifications.seq} in (
          select ${notifications.seq} from ${notifications}
          where ${notifications.dueAt} <= ${now}
            and (${notifications.leasedUntil} is null or ${notifications.leasedUntil} <= ${now})
          order by ${notifications.dueAt} limit ${p.limit})`,
    )
    .returning(leasedColumns({ notifications }));
});
