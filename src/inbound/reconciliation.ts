import { defineTable } from "../db/table.ts";

/** How far the log of a provider was compared with what arrived. One row per provider. */
export interface Reconciliation {
  readonly provider: string;
  /** Everything that the provider sent before this time is stored. Null before the first complete run. */
  readonly coveredUntil: Date | null;
  /** An unfinished run continues here; it covers the time until `runUntil`. Both are null if the last run finished. */
  readonly page: string | null;
  readonly runUntil: Date | null;
  /** When the next run is due. */
  readonly nextRunAt: Date;
  /** The provider's API asked not to be called before. */
  readonly pausedUntil: Date | null;
  /** One process reads a log at a time: this one, until its lease ends. */
  readonly leasedBy: string | null;
  readonly leasedUntil: Date | null;
  /** The end of the last run, complete or not. */
  readonly checkedAt: Date | null;
  /** The end of the last complete run. */
  readonly succeededAt: Date | null;
  /** Why the last run was not complete, or null if it was. */
  readonly error: string | null;
  /** How many requests were recovered, in all runs. */
  readonly recovered: number;
}

export const reconciliationsTable = defineTable<Reconciliation>("reconciliations", {
  provider: "text",
  coveredUntil: "instant or null",
  page: "text or null",
  runUntil: "instant or null",
  nextRunAt: "instant",
  pausedUntil: "instant or null",
  leasedBy: "text or null",
  leasedUntil: "instant or null",
  checkedAt: "instant or null",
  succeededAt: "instant or null",
  error: "text or null",
  recovered: "bigint",
});

/** The row of a provider before its first run. */
export function firstReconciliation(provider: string): Reconciliation {
  return {
    provider,
    coveredUntil: null,
    page: null,
    runUntil: null,
    nextRunAt: new Date(0),
    pausedUntil: null,
    leasedBy: null,
    leasedUntil: null,
    checkedAt: null,
    succeededAt: null,
    error: null,
    recovered: 0,
  };
}
