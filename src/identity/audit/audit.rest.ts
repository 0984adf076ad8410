import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";

import { maxActorIdLength } from "../../base/context.ts";
import { invalidParameter, textFilter, timeRange } from "../../base/parameters.ts";
import { pageOf, pageParameters } from "../../web/rest/page.schema.ts";
import { type Callers, routes } from "../../web/rest/route.ts";
import { documented, instant, text } from "../../web/schema.ts";

import { type AuditAction, auditActions, auditEntrySchema } from "./audit-entry.ts";
import type { Audit, AuditFilters } from "./audit.ts";

const auditPageSchema = pageOf(auditEntrySchema);

const auditQuery = documented(
  Type.Object({
    ...pageParameters,
    action: Type.Optional(
      text("Only this action, or all that start with the text before `*`.", "session.*"),
    ),
    actor: Type.Optional(text("Only what this user or client did.", "oidc:ada")),
    subject: Type.Optional(text("Only what was done to this.", "deploys")),
    from: Type.Optional(instant({ description: "Only entries of this time or later." })),
    to: Type.Optional(instant({ description: "Only entries before this time." })),
  }),
);

function filtersOf(query: URLSearchParams): AuditFilters {
  return {
    ...timeRange(query),
    actions: actionsIn(query),
    actor: textFilter(query, "actor", maxActorIdLength),
    subject: textFilter(query, "subject"),
  };
}

/** Throws `invalid-parameter` for an unknown action, so that a typing error is not an empty list. */
function actionsIn(query: URLSearchParams): readonly AuditAction[] | undefined {
  const wanted = textFilter(query, "action");
  if (wanted === undefined || wanted === "*") return undefined;
  const found = auditActions.filter((action) =>
    wanted.endsWith("*") ? action.startsWith(wanted.slice(0, -1)) : action === wanted,
  );
  if (found.length > 0) return found;
  const detail = `Must be one of: ${auditActions.join(", ")}; or the beginning of some and *`;
  throw invalidParameter("action", detail);
}

export const auditRest = (audit: Audit, callers: Callers) => {
  const { list } = routes(callers, "Operations", { sentence: "For admins." });
  return new Elysia({ name: "audit", prefix: "/v1/audit" }).get(
    "",
    ...list("listAudit", "List who did what", {
      description: "Newest first. All filters must match.",
      ids: "aud_",
      query: auditQuery,
      response: auditPageSchema,
      serve: ({ ctx, page, query }) => audit.list(ctx, page, filtersOf(query)),
    }),
  );
};
