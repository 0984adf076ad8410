import { and, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";

import { allColumns, statementsOver } from "../../db/statement.ts";

import { type SecretUse, secretUsesTable } from "./secret-use.ts";
import {
  type SpanMinutes,
  verifiedVerdicts,
  type WebhookCount,
  webhookCountsTable,
} from "./webhook-count.ts";

const tables = { webhookCounts: webhookCountsTable, secretUses: secretUsesTable };
const statement = statementsOver(tables);

/** Adds requests to the count of their span, which several instances share. */
export const addCounts = statement<WebhookCount>()((db, { webhookCounts: t }) =>
  db
    .insert(t)
    .values(allColumns(t))
    .onConflictDoUpdate({
      target: [t.spanMinutes, t.provider, t.minute, t.verdict],
      set: { deliveries: sql`${t.deliveries} + excluded.deliveries` },
    }),
);

/** A range in minutes since the epoch, `to` excluded, in steps of `stepMinutes`. */
interface Steps {
  readonly spanMinutes: SpanMinutes;
  readonly from: number;
  readonly to: number;
  readonly stepMinutes: number;
}

/** Requests by step, numbered from 0. Omits steps without requests. */
export const countsBySteps = statement<Steps>()((db, { webhookCounts: t }, p) =>
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
    // By position: repeating the expression would bind other parameters.
    .groupBy(sql`1`, t.provider, t.verdict),
);

/** An hour with verified requests of a provider. */
export interface ActiveHour {
  /** Start of the hour, in minutes since the epoch. */
  readonly minute: number;
  readonly deliveries: number;
}

/** The last active hours of a provider, newest first. */
export const activeHours = statement<{ provider: string; limit: number }>()(
  (db, { webhookCounts: t }, p) =>
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

/** Deletes at most `limit` counts before a minute. */
export const deleteOldCounts = statement<{
  spanMinutes: SpanMinutes;
  before: number;
  limit: number;
}>()((db, { webhookCounts: t }, p) => {
  const key = sql`${t.spanMinutes}, ${t.provider}, ${t.minute}, ${t.verdict}`;
  return db
    .delete(t)
    .where(
      sql`(${key}) in (select ${key} from ${t} where ${t.spanMinutes} = ${p.spanMinutes} and ${t.minute} < ${p.before} limit ${p.limit})`,
    );
});

/** Records that a secret matched. The latest time of several instances wins. */
export const recordSecretUse = statement<SecretUse>()((db, { secretUses: t }) =>
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
