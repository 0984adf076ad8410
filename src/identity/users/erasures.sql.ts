import { asc, gt, type SQL, sql } from "drizzle-orm";

import {
  allColumns,
  type Dialect,
  encoded,
  type Parameters,
  rowsAs,
  statementsOver,
} from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";

import { type Erasure, erasuresTable } from "./erasure.ts";

const tables = { erasures: erasuresTable };
const statement = statementsOver(tables);

/** Waits for the transactions that write in the name of the user, as these wait for it. */
export const insertErasure = statement<Erasure>()(
  (db, { erasures }) => db.insert(erasures).values(allColumns(erasures)).onConflictDoNothing(),
  { contended: ({ id }) => ({ table: erasuresTable, ids: [id] }) },
);

/** Tombstones of which there must be none. */
interface Writing {
  readonly tombstones: readonly Erasure["id"][];
}

/** Options of a statement whose transaction must not commit beside an erasure. */
export const besideErasures = {
  contended: ({ tombstones: ids }: Writing) =>
    ({ table: erasuresTable, ids, isShared: true }) as const,
};

export function isNotErased(
  { erasures }: TablesOf<typeof tables>,
  p: Parameters<Writing>,
  dialect: Dialect,
): SQL {
  return sql`not exists (select 1 from ${erasures} where ${dialect.among(erasures.id, p.tombstones)})`;
}

/** Returns a row unless one of the users was erased. */
export const requireNotErased = statement<Writing>()((db, t, p, dialect) => {
  const row = sql`select 1 where ${isNotErased(t, p, dialect)}`;
  return db.select({ one: sql<number>`1` }).from(rowsAs(t.erasures, row));
}, besideErasures);

export const erasuresSince = statement<{ since: Date }>()((db, { erasures }, p) =>
  db
    .select({ id: erasures.id })
    .from(erasures)
    .where(gt(erasures.createdAt, encoded(p.since, erasures.createdAt)))
    .orderBy(asc(erasures.createdAt)),
);
