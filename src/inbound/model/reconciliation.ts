import type { Static } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../../db/table.ts";
import { count, instant, nullable, resource, text } from "../../web/schema.ts";

export const reconciliationSchema = resource(
  "ReconciliationStatus",
  "How far the provider's log was compared with what arrived.",
  {
    coveredUntil: nullable(
      instant(),
      "Everything that the provider sent before is stored; null before the first run.",
    ),
    checkedAt: nullable(instant(), "End of the last run, complete or not."),
    succeededAt: nullable(instant(), "End of the last complete run."),
    nextRunAt: instant("When the next run is due."),
    pausedUntil: nullable(instant(), "The API's rate limit is reached until then."),
    error: personal(
      "none",
      nullable(text("Why the last run failed.", "api.github.com answers 401")),
    ),
    recovered: count("Deliveries recovered so far.", 3),
  },
);

export interface ReconciliationStatus extends Static<typeof reconciliationSchema> {}

/** One row per provider. */
export const reconciliationsTable = defineTable(
  "reconciliations",
  {
    provider: "text: none",
    ...reconciliationSchema.properties,
    recovered: "bigint",
    /** An unfinished run continues here; it covers the time until `runUntil`. Both are null if the last run finished. */
    page: "text or null: none",
    runUntil: "instant or null",
    /** One process reads a log at a time: this one, until its lease ends. */
    leasedBy: "text or null: none",
    leasedUntil: "instant or null",
  },
  ["provider"],
);

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
