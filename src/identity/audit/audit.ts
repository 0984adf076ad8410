import type { Clock } from "../../base/clock.ts";
import { type Context, requireAdmin } from "../../base/context.ts";
import { sha256 } from "../../base/crypto.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { mergeSources } from "../../db/merge.ts";
import { paginate } from "../../db/paginate.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { CallerLimiter } from "../limiter.ts";
import { endedCaller } from "../users/ended-access.ts";

import type { AuditAction, AuditEntry } from "./audit-entry.ts";
import type { AuditFilters } from "./audit-filters.ts";
import { auditOf, auditPages, insertAudit } from "./audit.sql.ts";

/** Which entries to list. Undefined means any. */
interface EntryFilters extends Omit<AuditFilters, "action" | "subject"> {
  readonly actions?: readonly AuditAction[] | undefined;
  readonly subjects?: readonly string[] | undefined;
}

/** The list of who did what. */
export interface Audit {
  /**
   * The write that records an action, for the transaction of that action, which fails if the actor was erased. Throws
   * `too-many-requests` if the caller made too many; calls of agents, reading bodies, and ending sessions and tokens, are always possible.
   */
  entry(ctx: Context, action: AuditAction, subject: string, detail?: string): Write<never>;
  /** Newest first. Throws `insufficient-scope` unless the caller is an admin. */
  list(ctx: Context, request: PageRequest, filters?: EntryFilters): Promise<Page<AuditEntry>>;
  /** The entries of an action on each of these subjects. Throws as `list`. */
  of(ctx: Context, action: AuditAction, subjects: readonly string[]): Promise<AuditEntry[]>;
}

const maxDetailLength = 2_000;

/** Other limits bound these: calls of a token, one read of a body per hour, the number of open sessions, and revocations. */
const unlimited: readonly AuditAction[] = [
  "agent.called",
  "event.revealed",
  "rejection.revealed",
  "session.closed",
  "session.revoked",
  "token.revoked",
  "key.revoked",
];

export function audit(
  storage: Storage,
  clock: Clock,
  makeId: MakeId,
  writes: CallerLimiter,
): Audit {
  return {
    entry(ctx, action, subject, detail) {
      if (!unlimited.includes(action)) writes.count(ctx);
      const { actor, key } = ctx;
      const now = clock.now();
      const lines = [
        ...(key ? [`API key: ${key.name}`] : []),
        ...(detail === undefined ? [] : [detail]),
      ];
      const entry = {
        id: makeId("aud", now),
        createdAt: new Date(now),
        actor: actor.id,
        action,
        subject,
        detail: lines.join("\n").slice(0, maxDetailLength) || null,
      };
      return write(insertAudit, { ...entry, tombstones: [sha256(actor.id)] }, endedCaller);
    },
    list(ctx, request, { actions = [undefined], actor, subjects = [undefined], from, to } = {}) {
      requireAdmin(ctx);
      // One list per action and subject, each by its index.
      const sources = actions.flatMap((action) =>
        subjects.map((subject) => auditPages(storage, { action, actor, subject }, { from, to })),
      );
      return paginate(mergeSources(sources), request);
    },
    async of(ctx, action, subjects) {
      requireAdmin(ctx);
      return subjects.length === 0 ? [] : storage.all(auditOf, { action, subjects });
    },
  };
}
