import { maxActorIdLength } from "../../base/context.ts";
import type { Filters, FiltersOf } from "../../base/filters.ts";

/** The filters of the audit list. */
export const auditFilters = {
  action: {
    kind: "text",
    label: "Action",
    description: "Only this action, or all that start with the text before `*`.",
    example: "session.*",
    isPrefixed: true,
  },
  actor: {
    kind: "text",
    label: "By",
    maxLength: maxActorIdLength,
    description: "Only what this user or client did.",
    example: "oidc:ada",
  },
  subject: {
    kind: "text",
    label: "Subject",
    description: "Only what was done to this: an id, or the name of a destination.",
    example: "deploys",
  },
  from: { kind: "instant", label: "From", description: "Only entries of this time or later." },
  to: { kind: "instant", label: "To", description: "Only entries before this time." },
} as const satisfies Filters;

export type AuditFilters = FiltersOf<typeof auditFilters>;
