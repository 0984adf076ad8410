import { sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { allColumns, encoded, statementsOver } from "../../db/statement.ts";

import { type AuditEntry, auditTable } from "./audit-entry.ts";

const tables = { audit: auditTable };
const statement = statementsOver(tables);

export const insertAudit = statement<AuditEntry>()((db, { audit }) =>
  db.insert(audit).values(allColumns(audit)),
);

/** Deletes at most `limit` entries up to a time. */
export const deleteOldAudit = statement<{ until: Date; limit: number }>()((db, { audit }, p) =>
  db
    .delete(audit)
    .where(
      sql`${audit.id} in (select ${audit.id} from ${audit} where ${audit.createdAt} <= ${encoded(p.until, audit.createdAt)} limit ${p.limit})`,
    ),
);

export const auditPages = pagesOver(tables)<AuditEntry, "action" | "actor" | "subject">({
  table: (t) => t.audit,
  select: (db, t) => db.select().from(t.audit),
  indexed: ["subject", "actor", "action"],
});
