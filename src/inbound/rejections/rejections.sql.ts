import { and, eq, lt, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { allColumns, encoded, shownColumns, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import {
  type Rejection,
  rejectionSchema,
  rejectionsTable,
  type StoredRejection,
} from "../model/rejection.ts";

const tables = { rejections: rejectionsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** The columns of a rejection that operators see. */
function rejectionColumns({ rejections }: Tables) {
  return shownColumns(rejections, rejectionSchema.properties);
}

export const insertRejection = statement<StoredRejection>()((db, { rejections }) =>
  db.insert(rejections).values(allColumns(rejections)),
);

export const rejectionById = statement<Pick<Rejection, "id">>()((db, { rejections }, p) =>
  db.select().from(rejections).where(eq(rejections.id, p.id)).limit(1),
);

/** Deletes all but the newest `keep` rejections of a provider. */
export const pruneRejections = statement<{ provider: string; keep: number }>()(
  (db, { rejections }, p) =>
    db
      .delete(rejections)
      .where(
        and(
          eq(rejections.provider, p.provider),
          lt(
            rejections.id,
            sql`(select ${rejections.id} from ${rejections} where ${rejections.provider} = ${p.provider} order by ${rejections.id} desc limit 1 offset ${p.keep} - 1)`,
          ),
        ),
      ),
);

/**
 * Deletes the oldest rejections that make all of them larger than `maxBytes`, at most `limit`. Reads the sizes of all:
 * run it now and then.
 */
export const pruneRejectionBytes = statement<{ maxBytes: number; limit: number }>()((
  db,
  { rejections },
  p,
) => {
  const { id, createdAt, headers, signatures, body, bodyBytes } = rejections;
  const text = (column: typeof headers) => sql`octet_length(cast(${column} as text))`;
  const bytes = sql`case when ${body} is null then 0 else ${bodyBytes} end + ${text(headers)} + ${text(signatures)}`;
  const sums = sql`select ${id} as id, sum(${bytes}) over (order by ${createdAt} desc, ${id} desc) as total from ${rejections}`;
  return db
    .delete(rejections)
    .where(
      sql`${id} in (select id from (${sums}) as sums where total > ${p.maxBytes} order by total desc limit ${p.limit})`,
    );
});

/** Deletes the bodies of at most `limit` rejections up to a time. The rejections stay. */
export const deleteRejectedBodies = statement<{ until: Date; limit: number }>()(
  (db, { rejections }, p) =>
    db
      .update(rejections)
      .set({ body: sql`null` })
      .where(
        sql`${rejections.id} in (select ${rejections.id} from ${rejections} where ${rejections.createdAt} <= ${encoded(p.until, rejections.createdAt)} and ${rejections.body} is not null limit ${p.limit})`,
      ),
);

/** The rejections of each provider since a time, among those that are kept. */
export const rejectionsSince = statement<{ since: Date }>()((db, { rejections }, p) => {
  const { provider, createdAt } = rejections;
  return db
    .select({ provider, count: sql<number>`count(*)`.mapWith(Number) })
    .from(rejections)
    .where(sql`${createdAt} >= ${encoded(p.since, createdAt)}`)
    .groupBy(provider);
});

export const rejectionPages = pagesOver(tables)<Rejection, "provider" | "reason">({
  table: (t) => t.rejections,
  select: (db, t) => db.select(rejectionColumns(t)).from(t.rejections),
});
