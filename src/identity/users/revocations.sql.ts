import { gt, lte, type SQL, sql } from "drizzle-orm";

import {
  allColumns,
  encoded,
  type Parameters,
  rowsAs,
  statementsOver,
} from "../../db/statement.ts";

import { type Revocation, revocationsTable } from "./revocation.ts";

const tables = { revocations: revocationsTable };
const statement = statementsOver(tables);

/** Replaces an earlier one. Waits for the transactions that `requireNotRevoked` is part of, as these wait for it. */
export const upsertRevocation = statement<Revocation>()(
  (db, { revocations }) =>
    db
      .insert(revocations)
      .values(allColumns(revocations))
      .onConflictDoUpdate({
        target: [revocations.id],
        set: { createdAt: sql`excluded.created_at`, expiresAt: sql`excluded.expires_at` },
      }),
  { contended: ({ id }) => ({ table: revocationsTable, ids: [id] }) },
);

export const deleteExpiredRevocations = statement<{ now: Date }>()((db, { revocations }, p) =>
  db.delete(revocations).where(lte(revocations.expiresAt, encoded(p.now, revocations.expiresAt))),
);

export const revocationsSince = statement<{ since: Date }>()((db, { revocations }, p) =>
  db
    .select({ id: revocations.id, createdAt: revocations.createdAt })
    .from(revocations)
    .where(gt(revocations.createdAt, encoded(p.since, revocations.createdAt))),
);

interface Given {
  readonly ids: readonly Revocation["id"][];
  /** When it was issued. */
  readonly since: Date;
}

/** Returns a row unless one of the ids was revoked at that time or later. */
export const requireNotRevoked = statement<Given>()(
  (db, { revocations }, p: Parameters<Given>, dialect) => {
    const { id, createdAt } = revocations;
    const since: SQL = encoded(p.since, createdAt);
    const row = sql`select 1 where not exists (select 1 from ${revocations} where ${dialect.among(id, p.ids)} and ${createdAt} >= ${since})`;
    return db.select({ one: sql<number>`1` }).from(rowsAs(revocations, row));
  },
  { contended: ({ ids }) => ({ table: revocationsTable, ids, isShared: true }) },
);
