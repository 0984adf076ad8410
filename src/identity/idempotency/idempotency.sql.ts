import { and, eq, lte } from "drizzle-orm";

import { allColumns, encoded, statementsOver } from "../../db/statement.ts";

import { type IdempotencyRecord, idempotencyTable } from "./idempotency.ts";

const tables = { idempotency: idempotencyTable };
const statement = statementsOver(tables);

/** Touches no row when the key is in use. */
export const insertIdempotency = statement<IdempotencyRecord>()((db, { idempotency }) =>
  db.insert(idempotency).values(allColumns(idempotency)).onConflictDoNothing(),
);

export const idempotencyByKey = statement<Pick<IdempotencyRecord, "scope" | "key">>()(
  (db, { idempotency }, p) =>
    db
      .select()
      .from(idempotency)
      .where(and(eq(idempotency.scope, p.scope), eq(idempotency.key, p.key)))
      .limit(1),
);

/** Deletes a key that has expired, so that it can be used again. */
export const expireIdempotency = statement<
  Pick<IdempotencyRecord, "scope" | "key"> & { now: Date }
>()((db, { idempotency }, p) =>
  db
    .delete(idempotency)
    .where(
      and(
        eq(idempotency.scope, p.scope),
        eq(idempotency.key, p.key),
        lte(idempotency.expiresAt, encoded(p.now, idempotency.expiresAt)),
      ),
    ),
);
