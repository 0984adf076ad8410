import { asc, gt } from "drizzle-orm";

import { allColumns, encoded, statementsOver } from "../../db/statement.ts";

import { type Erasure, erasuresTable } from "./erasure.ts";

const statement = statementsOver({ erasures: erasuresTable });

export const insertErasure = statement<Erasure>()((db, { erasures }) =>
  db.insert(erasures).values(allColumns(erasures)).onConflictDoNothing(),
);

export const erasuresSince = statement<{ since: Date }>()((db, { erasures }, p) =>
  db
    .select({ id: erasures.id })
    .from(erasures)
    .where(gt(erasures.createdAt, encoded(p.since, erasures.createdAt)))
    .orderBy(asc(erasures.createdAt)),
);
