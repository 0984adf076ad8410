import { Elysia } from "elysia";

import { matchesText } from "../../base/filters.ts";
import { invalidParameter } from "../../base/parameters.ts";
import { pageOf } from "../../web/page.schema.ts";
import { adminsOnly, type Callers, routes } from "../../web/rest/route.ts";

import { type AuditAction, auditActions, listedAuditEntrySchema } from "./audit-entry.ts";
import { auditFilters } from "./audit-filters.ts";
import type { Audit } from "./audit.ts";
import { namedEntries, type NameSources, subjectsCalled } from "./named-entries.ts";

const auditPageSchema = pageOf(listedAuditEntrySchema);

/** Throws `invalid-parameter` for an unknown action, so that a typing error is not an empty list. */
function actionsIn(wanted: string | undefined): readonly AuditAction[] | undefined {
  if (wanted === undefined || wanted === "*") return undefined;
  const found = auditActions.filter((action) => matchesText(action, wanted));
  if (found.length > 0) return found;
  const detail = `Must be one of: ${auditActions.join(", ")}; or the beginning of some and *`;
  throw invalidParameter("action", detail);
}

export const auditRest = (audit: Audit, names: NameSources, callers: Callers) => {
  const { list } = routes(callers, "Audit and sessions", adminsOnly);
  return new Elysia({ name: "audit", prefix: "/v1/audit" }).get(
    "",
    ...list("listAudit", "List who did what", {
      description: "Newest first. All filters must match.",
      ids: "aud_",
      filters: auditFilters,
      response: auditPageSchema,
      serve: async ({ ctx, page, filters: { action, subject: called, ...filters } }) => {
        const actions = actionsIn(action);
        const subjects =
          called === undefined ? undefined : await subjectsCalled(ctx, names, called);
        const found = await audit.list(ctx, page, { ...filters, subjects, actions });
        return { ...found, data: await namedEntries(ctx, names, found.data) };
      },
    }),
  );
};
