import { defineTable, type Stored } from "../db/table.ts";

/** How far the log of a provider was compared with what arrived. One row per provider. */
export const reconciliationsTable = defineTable("reconciliations", {
  provider: "text",
  /** Everything that the provider sent before this time is stored. Null before the first complete run. */
  coveredUntil: "instant or null",
  /** An unfinished run continues here; it covers the time until `runUntil`. Both are null if the last run finished. */
  page: "text or null",
  runUntil: "instant or null",
  /** When the next run is due. */
  nextRunAt: "instant",
  /** The provider's API asked not to be called before. */
  pausedUntil: "instant or null",
  /** One process reads a log at a time: this one, until its lease ends. */
  leasedBy: "text or null",
  leasedUntil: "instant or null",
  /** The end of the last run, complete or not. */
  checkedAt: "instant or null",
  /** The end of the last complete run. */
  succeededAt: "instant or null",
  /** Why the last run was not complete, or null if it was. */
  error: "text or null",
  /** How many requests were recovered, in all runs. */
  recovered: "bigint",
});

export interface Reconciliation extends Stored<typeof reconciliationsTable> {}

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
