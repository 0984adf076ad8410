import { and, eq, sql } from "drizzle-orm";

import { allColumns, encoded, statementsOver } from "../../db/statement.ts";

import { type Reconciliation, reconciliationsTable } from "./reconciliation.ts";

const statement = statementsOver({ reconciliations: reconciliationsTable });

type OfProvider = Pick<Reconciliation, "provider">;

export const reconciliationOf = statement<OfProvider>()((db, { reconciliations: t }, p) =>
  db.select().from(t).where(eq(t.provider, p.provider)),
);

export const allReconciliations = statement()((db, { reconciliations: t }) => db.select().from(t));

/** Changes nothing if the provider has a row. */
export const insertReconciliation = statement<Reconciliation>()((db, { reconciliations: t }) =>
  db.insert(t).values(allColumns(t)).onConflictDoNothing(),
);

interface Lease extends OfProvider {
  readonly leasedBy: string;
  readonly leasedUntil: Date;
}

/**
 * Leases a provider's log to one process. Changes no row while another has it. A lease that ends after
 * `latest` is from before the clock was set back, and does not count.
 */
export const claimLog = statement<Lease & { readonly now: Date; readonly latest: Date }>()((
  db,
  { reconciliations: t },
  p,
) => {
  const [now, latest] = [encoded(p.now, t.leasedUntil), encoded(p.latest, t.leasedUntil)];
  return db
    .update(t)
    .set({ leasedBy: p.leasedBy, leasedUntil: p.leasedUntil })
    .where(
      and(
        eq(t.provider, p.provider),
        sql`(${t.leasedUntil} is null or ${t.leasedUntil} <= ${now} or ${t.leasedUntil} > ${latest})`,
      ),
    )
    .returning({ provider: t.provider });
});

/** Extends the lease. Changes no row if another process has it by now. */
export const renewLease = statement<Lease>()((db, { reconciliations: t }, p) =>
  db
    .update(t)
    .set({ leasedUntil: p.leasedUntil })
    .where(and(eq(t.provider, p.provider), eq(t.leasedBy, p.leasedBy))),
);

/** Adds what was recovered, and remembers where an unfinished run continues. */
export const saveProgress = statement<
  Pick<Reconciliation, "provider" | "page" | "runUntil" | "recovered">
>()((db, { reconciliations: t }, p) =>
  db
    .update(t)
    .set({
      page: p.page,
      runUntil: p.runUntil,
      recovered: sql`${t.recovered} + ${encoded(p.recovered, t.recovered)}`,
    })
    .where(eq(t.provider, p.provider)),
);

/** Records the end of a run and ends its lease. Changes no row if another process has the lease by now. */
export const endRun = statement<
  Pick<
    Reconciliation,
    | "provider"
    | "coveredUntil"
    | "nextRunAt"
    | "pausedUntil"
    | "checkedAt"
    | "succeededAt"
    | "error"
  > & { readonly leasedBy: string }
>()((db, { reconciliations: t }, p) =>
  db
    .update(t)
    .set({
      coveredUntil: p.coveredUntil,
      nextRunAt: p.nextRunAt,
      pausedUntil: p.pausedUntil,
      checkedAt: p.checkedAt,
      succeededAt: p.succeededAt,
      error: p.error,
      leasedBy: sql`null`,
      leasedUntil: sql`null`,
    })
    .where(and(eq(t.provider, p.provider), eq(t.leasedBy, p.leasedBy))),
);

/** Ends a lease without a run. */
export const releaseLog = statement<Pick<Lease, "provider" | "leasedBy">>()(
  (db, { reconciliations: t }, p) =>
    db
      .update(t)
      .set({ leasedBy: sql`null`, leasedUntil: sql`null` })
      .where(and(eq(t.provider, p.provider), eq(t.leasedBy, p.leasedBy))),
);
