import type { Static } from "@sinclair/typebox";

import { defineTable, personal } from "../../db/table.ts";
import { instant, nullable, prefixedId, resource, text } from "../../web/schema.ts";

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
  "agent.token_created",
  "token.revoked",
  "access.revoked",
  "key.created",
  "key.revoked",
  "booking.refunded",
  "replay.started",
  "replay.stopped",
  "replay.resumed",
  "booking.corrected",
  "person.exported",
  "person.erased",
  "agent.called",
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Kept for AUDIT_RETENTION_DAYS. Holds no secrets and no personal data. */
export const auditEntrySchema = resource("AuditEntry", "Who did what, and when.", {
  id: prefixedId("aud_", "The entry's id."),
  createdAt: instant("When it was done."),
  actor: personal("pseudonym", text("The id of the user or client who did it.")),
  action: personal("none", text("What was done. Newer versions may add actions.", ...auditActions)),
  subject: personal(
    "text",
    text("The id of what it was done to, or its name if it has no id.", "code_host"),
  ),
  detail: personal(
    "text",
    nullable(text("What changed, one change per line; null if the action says it.")),
  ),
});

export interface AuditEntry extends Static<typeof auditEntrySchema> {}

export const listedAuditEntrySchema = resource(
  "ListedAuditEntry",
  "Who did what, and when, with the names that the ids have now.",
  {
    ...auditEntrySchema.properties,
    actorName: nullable(text("The user's name; null if the actor is not a user.", "Ada Lovelace")),
    actorEmail: nullable(text("The user's e-mail address.", "ada@example.com")),
    subjectName: nullable(
      text(
        "The title of the event, or the name of the operators' destination, the token of an agent or the API key.",
      ),
    ),
  },
);

export interface ListedAuditEntry extends Static<typeof listedAuditEntrySchema> {}

export const auditTable = defineTable("audit", auditEntrySchema.properties);
