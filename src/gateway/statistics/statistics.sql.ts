import { and, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";

import {
  type DeliveryCount,
  type SpanMinutes,
  verifiedVerdicts,
  deliveryCountsTable,
} from "../delivery-count.ts";
import { type SecretUse, secretUsesTable } from "../secret-use.ts";

import { allColumns, statementsOver } from "../../db/statement.ts";

const tables = { deliveryCounts: deliveryCountsTable, secretUses: secretUsesTable };
const statement = statementsOver(tables);

/** Adds to what was counted of that time, by this instance or another. */
export const addDeliveries = statement<DeliveryCount>()((db, { deliveryCounts: t }) =>
  db
    .insert(t)
    .values(allColumns(t))
    .onConflictDoUpdate({
      target: [t.spanMinutes, t.provider, t.minute, t.verdict],
      set: { deliveries: sql`${t.deliveries} + excluded.deliveries` },
    }),
);

/** Minutes since the epoch, from `from` up to but without `to`, added up `stepMinutes` at a time. */
interface Steps {
  readonly spanMinutes: SpanMinutes;
  readonly from: number;
  readonly to: number;
  readonly stepMinutes: number;
}

/** Deliveries by step from 0 up; steps without any are left out. */
export const deliveriesBySteps = statement<Steps>()((db, { deliveryCounts: t }, p) =>
  db
    .select({
      step: sql<number>`(${t.minute} - ${p.from}) / ${p.stepMinutes}`.mapWith(Number),
      provider: t.provider,
      verdict: t.verdict,
      deliveries: sql<number>`sum(${t.deliveries})`.mapWith(Number),
    })
    .from(t)
    .where(
      and(
        eq(t.spanMinutes, p.spanMinutes),
        gte(t.minute, sql`${p.from}`),
        lt(t.minute, sql`${p.to}`),
      ),
    )
    // By place: written out again, its parameters would be others.
    .groupBy(sql`1`, t.provider, t.verdict),
);

/** An hour in which deliveries of a provider verified. */
export interface ActiveHour {
  /** Its first minute, in minutes since the epoch. */
  readonly minute: number;
  readonly deliveries: number;
}

/** The newest such hours of a provider, newest first. */
export const activeHours = statement<{ provider: string; limit: number }>()(
  (db, { deliveryCounts: t }, p) =>
    db
      .select({
        minute: t.minute,
        deliveries: sql<number>`sum(${t.deliveries})`.mapWith(Number),
      })
      .from(t)
      .where(
        and(
          eq(t.spanMinutes, 60).inlineParams(),
          eq(t.provider, p.provider),
          inArray(t.verdict, [...verifiedVerdicts]).inlineParams(),
        ),
      )
      .groupBy(t.minute)
      .orderBy(desc(t.minute))
      .limit(p.limit),
);

/** Deletes counts of before a minute, at most `limit` of them. */
export const deleteOldCounts = statement<{
  spanMinutes: SpanMinutes;
  before: number;
  limit: number;
}>()((db, { deliveryCounts: t }, p) => {
  const key = sql`${t.spanMinutes}, ${t.provider}, ${t.minute}, ${t.verdict}`;
  return db
    .delete(t)
    .where(
      sql`(${key}) in (select ${key} from ${t} where ${t.spanMinutes} = ${p.spanMinutes} and ${t.minute} < ${p.before} limit ${p.limit})`,
    );
});

/** Notes that a secret matched. Of what several instances note, the latest stays. */
export const noteSecretUse = statement<SecretUse>()((db, { secretUses: t }) =>
  db
    .insert(t)
    .values(allColumns(t))
    .onConflictDoUpdate({
      target: [t.provider, t.secret],
      set: { lastMatchedAt: sql`excluded.last_matched_at` },
      setWhere: sql`excluded.last_matched_at > ${t.lastMatchedAt}`,
    }),
);

export const secretUsesOf = statement<Pick<SecretUse, "provider">>()((db, { secretUses: t }, p) =>
  db.select().from(t).where(eq(t.provider, p.provider)),
);
