import type { Clock } from "../../base/clock.ts";
import { type Context, requireOperator } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import type { Outbox } from "../../outbound/deliveries/outbox.ts";
import { type Failed, retryDeadOf, retryWaitingOf } from "../../outbound/deliveries/retry-all.ts";
import type { Destination } from "../../outbound/model/destination.ts";

import { findIssues, type FoundIssue, type IssueParts } from "./find-issues.ts";
import { causeOf } from "./issue-advice.ts";
import type { Issue, Issues } from "./issue.ts";
import { allMutes, deleteEndedMutes, deleteMute, storeMute } from "./issues.sql.ts";

/** What is wrong now, for operators. All throw `insufficient-scope`. */
export interface IssueService {
  /** The most urgent first; muted ones last. */
  list(ctx: Context): Promise<Issues>;
  /** Sends the deliveries of the issue again, now. Throws `not-found`, and `bad-request` if it has none. */
  retry(ctx: Context, id: string): Promise<{ readonly retried: number }>;
  /** Null ends the mute. Throws `not-found`. */
  mute(ctx: Context, id: string, until: Date | null): Promise<Issue>;
}

interface Parts extends IssueParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly audit: Audit;
  readonly closeCircuit: (id: Destination["id"]) => Promise<void>;
}

/** The most issues in a list. */
const maxIssues = 200;

export function issues(parts: Parts): IssueService {
  const { storage, clock, outbox, audit } = parts;

  async function current(): Promise<readonly Issue[]> {
    const [found, mutes] = await Promise.all([findIssues(parts), storage.all(allMutes, {})]);
    const now = clock.now();
    const untilOf = new Map(
      mutes.flatMap(({ issueId, until }) =>
        until.getTime() > now ? [[issueId, until] as const] : [],
      ),
    );
    return found.map((issue) => ({ ...issue, mutedUntil: untilOf.get(issue.id) ?? null }));
  }

  async function find(id: string): Promise<Issue> {
    const issue = (await current()).find((each) => each.id === id);
    if (issue !== undefined) return issue;
    throw new AppError("not-found", "No issue has this id now. It may have been resolved.");
  }

  /** Sends the deliveries of an issue again, of all that failed at its destination. */
  async function retryOf({ kind, destinationId, provider, cause }: FoundIssue): Promise<number> {
    if (destinationId === null) return 0;
    const which = (failed: Failed) =>
      failed.provider === provider && causeOf(failed.lastError) === cause;
    const retry = kind === "dead-letters" ? retryDeadOf : retryWaitingOf;
    return retry(parts, { destinationId, which });
  }

  return {
    async list(ctx) {
      requireOperator(ctx);
      const all = await current();
      const isMuted = ({ mutedUntil }: Issue) => mutedUntil !== null;
      const sorted = [...all.filter((each) => !isMuted(each)), ...all.filter(isMuted)];
      return { data: sorted.slice(0, maxIssues) };
    },
    async retry(ctx, id) {
      requireOperator(ctx);
      const issue = await find(id);
      if (!issue.canRetry) {
        const detail =
          issue.kind === "circuit-open"
            ? "Sending is suspended. The deliveries are sent when the destination answers again."
            : "Nothing can be sent again: no deliveries were stored.";
        throw new AppError("bad-request", detail);
      }
      await storage.atomically(audit.entry(ctx, "issue.retried", subjectOf(issue), issue.cause));
      const retried = await retryOf(issue);
      if (issue.destinationId !== null) {
        await parts.closeCircuit(issue.destinationId);
        outbox.rescheduled(issue.destinationId);
      }
      return { retried };
    },
    async mute(ctx, id, until) {
      requireOperator(ctx);
      const issue = await find(id);
      const issueId = issue.id;
      await storage.atomically(
        write(deleteEndedMutes, { now: new Date(clock.now()) }),
        until === null ? write(deleteMute, { issueId }) : write(storeMute, { issueId, until }),
        until === null
          ? audit.entry(ctx, "issue.unmuted", subjectOf(issue), issue.cause)
          : audit.entry(ctx, "issue.muted", subjectOf(issue), `until ${until.toISOString()}`),
      );
      return { ...issue, mutedUntil: until };
    },
  };
}

/** `dead-letters code_host deploys` */
function subjectOf({ kind, provider, destination }: Issue): string {
  return [kind, provider, destination].filter((part) => part !== null).join(" ");
}
