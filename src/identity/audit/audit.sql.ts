import { and, eq, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { encoded, rowIf, statementsOver } from "../../db/statement.ts";
import { erasuresTable } from "../users/erasure.ts";
import { besideErasures, isNotErased } from "../users/erasures.sql.ts";

import { type AuditAction, type AuditEntry, auditTable } from "./audit-entry.ts";

const tables = { audit: auditTable };
const statement = statementsOver(tables);

/** Touches no row if the actor was erased. */
export const insertAudit = statementsOver({ ...tables, erasures: erasuresTable })<
  AuditEntry & { readonly tombstones: readonly string[] }
>()(
  (db, t, p, dialect) => db.insert(t.audit).select(rowIf(t.audit, isNotErased(t, p, dialect))),
  besideErasures,
);

/** Deletes at most `limit` entries up to a time. */
export const deleteOldAudit = statement<{ until: Date; limit: number }>()((db, { audit }, p) =>
  db
    .delete(audit)
    .where(
      sql`${audit.id} in (select ${audit.id} from ${audit} where ${audit.createdAt} <= ${encoded(p.until, audit.createdAt)} limit ${p.limit})`,
    ),
);

/** The entries of an action on these subjects. */
export const auditOf = statement<{ action: AuditAction; subjects: readonly string[] }>()(
  (db, { audit }, p, dialect) =>
    db
      .select()
      .from(audit)
      .where(and(dialect.among(audit.subject, p.subjects), eq(audit.action, p.action))),
);

export const auditPages = pagesOver(tables)<AuditEntry, "action" | "actor" | "subject">({
  table: (t) => t.audit,
  select: (db, t) => db.select().from(t.audit),
  indexed: ["subject", "actor", "action"],
});
