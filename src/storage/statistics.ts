import { and, asc, eq, gte, inArray, lt, sql } from "drizzle-orm";

import { type DeliveryCount, verifiedVerdicts } from "../statistics/delivery-count.ts";
import type { SecretUse } from "../webhooks/secret-use.ts";

import { allColumns, statement } from "./sql.ts";

/** Adds to what was counted of that minute, by this instance or another. */
export const addDeliveries = statement<DeliveryCount>()((db, { deliveryCounts: t }) =>
  db
    .insert(t)
    .values(allColumns(t))
    .onConflictDoUpdate({
      target: [t.minute, t.provider, t.verdict],
      set: { deliveries: sql`${t.deliveries} + excluded.deliveries` },
    }),
);

/** Deliveries in steps of some minutes, from `from` up to but without `to`; steps without any are left out. */
export const deliveriesBySteps = statement<{ from: number; to: number; stepMinutes: number }>()(
  (db, { deliveryCounts: t }, p) =>
    db
      .select({
        step: sql<number>`(${t.minute} - ${p.from}) / ${p.stepMinutes}`.mapWith(Number),
        provider: t.provider,
        verdict: t.verdict,
        deliveries: sql<number>`sum(${t.deliveries})`.mapWith(Number),
      })
      .from(t)
      .where(and(gte(t.minute, sql`${p.from}`), lt(t.minute, sql`${p.to}`)))
      // By place: written out again, its parameters would be others.
      .groupBy(sql`1`, t.provider, t.verdict),
);

/** The newest minute in which a delivery of a provider verified; null when there is none. */
export const lastVerifiedMinute = statement<Pick<DeliveryCount, "provider">>()(
  (db, { deliveryCounts: t }, p) =>
    db
      .select({ minute: t.minute })
      .from(t)
      .where(
        and(eq(t.provider, p.provider), inArray(t.verdict, [...verifiedVerdicts]).inlineParams()),
      )
      .orderBy(sql`${t.minute} desc`)
      .limit(1),
);

/** One hour in which deliveries of a provider verified. Minutes since the epoch. */
export interface ActiveHour {
  readonly hour: number;
  readonly firstMinute: number;
  readonly lastMinute: number;
  readonly deliveries: number;
}

/** The hours since `from` in which deliveries of a provider verified, oldest first. */
export const activeHours = statement<{ provider: string; from: number }>()(
  (db, { deliveryCounts: t }, p) =>
    db
      .select({
        hour: sql<number>`${t.minute} / 60`.mapWith(Number),
        firstMinute: sql<number>`min(${t.minute})`.mapWith(Number),
        lastMinute: sql<number>`max(${t.minute})`.mapWith(Number),
        deliveries: sql<number>`sum(${t.deliveries})`.mapWith(Number),
      })
      .from(t)
      .where(
        and(
          eq(t.provider, p.provider),
          gte(t.minute, sql`${p.from}`),
          inArray(t.verdict, [...verifiedVerdicts]).inlineParams(),
        ),
      )
      .groupBy(sql`1`)
      .orderBy(asc(sql`1`)),
);

/** Deletes counts of before a minute, at most `limit` of them. */
export const deleteOldCounts = statement<{ before: number; limit: number }>()(
  (db, { deliveryCounts: t }, p) =>
    db
      .delete(t)
      .where(
        sql`(${t.minute}, ${t.provider}, ${t.verdict}) in (select ${t.minute}, ${t.provider}, ${t.verdict} from ${t} where ${t.minute} < ${p.before} limit ${p.limit})`,
      ),
);

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
