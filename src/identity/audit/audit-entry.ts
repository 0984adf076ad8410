import { defineTable } from "../../db/table.ts";

/** What operators do that others need to know of. */
export const auditActions = [
  "event.revealed",
  "rejection.revealed",
  "destination.created",
  "destination.updated",
  "destination.paused",
  "destination.resumed",
  "destination.disabled",
  "destination.rotated",
  "destination.retried",
  "destination.removed",
  "event.replayed",
  "provider.added",
  "provider.secret_changed",
  "provider.tested",
  "events.streamed",
  "issue.retried",
  "issue.muted",
  "issue.unmuted",
  "session.opened",
  "session.closed",
  "session.revoked",
  "replay.started",
  "replay.stopped",
  "replay.resumed",
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Who did what, and when. Kept for AUDIT_RETENTION_DAYS. Holds no secrets and no personal data. */
export interface AuditEntry {
  readonly id: `aud_${string}`;
  readonly createdAt: Date;
  /** The caller: the id of a user or client. */
  readonly actor: string;
  /** One of `auditActions`, or one of a newer version: during an upgrade, instances of both share the database. */
  readonly action: string;
  /** What it was done to, such as a destination's name or an event's id. */
  readonly subject: string;
  /** What changed, in a few words; null if the action says it. */
  readonly detail: string | null;
}

export const auditTable = defineTable<AuditEntry>("audit", {
  id: "text",
  createdAt: "instant",
  actor: "text",
  action: "text",
  subject: "text",
  detail: "text or null",
});
