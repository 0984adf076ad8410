import type { Clock } from "../../base/clock.ts";
import { sha256 } from "../../base/crypto.ts";
import { inOwnTurn } from "../../db/in-turn.ts";
import type { Storage } from "../../db/storage.ts";
import type { ProviderStatus } from "../../inbound/provider-status/provider-status.schema.ts";
import type { DestinationCache } from "../../outbound/deliveries/destination-cache.ts";
import type { Destination } from "../../outbound/model/destination.ts";

import {
  causeOf,
  circuitAdvice,
  deliveryAdvice,
  rejectionAdvice,
  secretAdvice,
  silenceAdvice,
} from "./issue-advice.ts";
import { type Issue, issueKinds } from "./issue.ts";
import { deadGroups, rejectionGroups, retryingGroups, waitingGroups } from "./issues.sql.ts";

/** An issue, without what operators decided about it. */
export type FoundIssue = Omit<Issue, "mutedUntil">;

export interface IssueParts {
  readonly storage: Storage;
  readonly destinations: Pick<DestinationCache, "list">;
  readonly statuses: () => Promise<readonly Activity[]>;
  readonly clock: Clock;
}

type Activity = Pick<ProviderStatus, "provider" | "hasSecret" | "isSilent" | "silentForSeconds">;

/** The deliveries that are read of each destination, newest first. */
const sampleSize = 500;
/** The causes of a destination that are shown, those that were seen last. */
const maxCauses = 50;
/** A rejected request is an issue this long: once the cause is removed, nothing else ends it. */
const rejectionWindowMs = 24 * 3_600_000;

/** What is wrong now, the most urgent first. Every query reads an index, and a bounded number of rows. */
export async function findIssues(parts: IssueParts): Promise<readonly FoundIssue[]> {
  const found = (await Promise.all([failures(parts), rejected(parts), inactive(parts)])).flat();
  const urgency = ({ kind }: FoundIssue) => issueKinds.indexOf(kind);
  return found.toSorted(
    (one, other) =>
      urgency(one) - urgency(other) || other.lastSeenAt.getTime() - one.lastSeenAt.getTime(),
  );
}

async function rejected({ storage, clock }: IssueParts): Promise<readonly FoundIssue[]> {
  const since = new Date(clock.now() - rejectionWindowMs);
  const groups = await storage.all(rejectionGroups, { since });
  return groups.map(({ provider, reason, count, firstMs, lastMs, lastId }) =>
    issue({
      kind: "rejected",
      cause: reason,
      provider,
      count,
      firstSeenAt: new Date(firstMs),
      lastSeenAt: new Date(lastMs),
      advice: rejectionAdvice(reason),
      rejectionId: `rej_${lastId.slice(4)}`,
    }),
  );
}

/** The providers that cannot receive, and those whose deliveries have stopped. */
async function inactive({ statuses, clock }: IssueParts): Promise<readonly FoundIssue[]> {
  const now = new Date(clock.now());
  return (await statuses()).flatMap(({ provider, hasSecret, isSilent, silentForSeconds }) => {
    const common = { provider, count: 0, lastSeenAt: now };
    if (!hasSecret) {
      const [kind, cause] = ["secret-missing", "no-secret"] as const;
      return issue({ ...common, kind, cause, firstSeenAt: now, advice: secretAdvice });
    }
    if (!isSilent || silentForSeconds === null) return [];
    const [kind, cause] = ["provider-silent", "no-deliveries"] as const;
    const firstSeenAt = new Date(clock.now() - silentForSeconds * 1_000);
    return issue({ ...common, kind, cause, firstSeenAt, advice: silenceAdvice });
  });
}

/** The failed deliveries of the operators' destinations. */
async function failures(parts: IssueParts): Promise<readonly FoundIssue[]> {
  const own = parts.destinations.list().filter(({ destination }) => destination.ownerId === null);
  const found = own.map(({ destination }) =>
    inOwnTurn(parts.storage, () => failuresOf(parts, destination)),
  );
  return (await Promise.all(found)).flat();
}

async function failuresOf(
  { storage, clock }: IssueParts,
  destination: Destination,
): Promise<readonly FoundIssue[]> {
  const place = { destinationId: destination.id, limit: sampleSize };
  const isOpen = destination.openUntil !== null;
  const [waiting, dead] = await Promise.all([
    storage.all(isOpen ? waitingGroups : retryingGroups, place),
    storage.all(deadGroups, place),
  ]);
  return [
    ...byCause(destination, "dead-letters", dead),
    ...(isOpen
      ? [circuitIssue(destination, waiting, clock.now())]
      : byCause(destination, "retrying", waiting)),
  ];
}

interface Group {
  readonly provider: string;
  readonly lastError: string | null;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** The id of the latest event. */
  readonly lastId: string;
}

/** One issue for each provider and cause, at most `maxCauses`. Errors that differ in their text only are one cause. */
function byCause(
  { id, name }: Destination,
  kind: "dead-letters" | "retrying",
  groups: readonly Group[],
): readonly FoundIssue[] {
  const hasMore = sumOf(groups) >= sampleSize;
  const grouped = Map.groupBy(groups, ({ provider, lastError }) =>
    JSON.stringify([provider, causeOf(lastError)]),
  );
  const latest = [...grouped.values()]
    .toSorted((one, other) => lastOf(other) - lastOf(one))
    .slice(0, maxCauses);
  return latest.flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const cause = causeOf(first.lastError);
    return issue({
      kind,
      cause,
      provider: first.provider,
      destinationId: id,
      destination: name,
      ...extentOf(same),
      hasMore,
      advice: deliveryAdvice(cause),
      canRetry: true,
    });
  });
}

function circuitIssue(
  { id, name, failures: inARow }: Destination,
  waiting: readonly Group[],
  nowMs: number,
): FoundIssue {
  const now = new Date(nowMs);
  return issue({
    kind: "circuit-open",
    cause: `${inARow} failures in a row`,
    destinationId: id,
    destination: name,
    ...(waiting.length === 0 ? { count: 0, firstSeenAt: now, lastSeenAt: now } : extentOf(waiting)),
    hasMore: sumOf(waiting) >= sampleSize,
    advice: circuitAdvice,
  });
}

const lastOf = (groups: readonly Group[]): number =>
  Math.max(...groups.map(({ lastMs }) => lastMs));

const sumOf = (groups: readonly Group[]): number =>
  groups.reduce((sum, { count }) => sum + count, 0);

function extentOf(groups: readonly Group[]) {
  const [latest] = groups.toSorted((one, other) => other.lastMs - one.lastMs);
  return {
    count: sumOf(groups),
    firstSeenAt: new Date(Math.min(...groups.map(({ firstMs }) => firstMs))),
    lastSeenAt: new Date(lastOf(groups)),
    eventId: latest === undefined ? null : (`evt_${latest.lastId.slice(4)}` as const),
  };
}

type Given = Pick<
  FoundIssue,
  "kind" | "cause" | "count" | "firstSeenAt" | "lastSeenAt" | "advice"
> &
  Partial<FoundIssue>;

function issue(given: Given): FoundIssue {
  const { kind, cause, provider = null, destinationId = null } = given;
  // The number of failures changes while a circuit stays open.
  const key = [kind, kind === "circuit-open" ? "" : cause, provider, destinationId];
  const hash = sha256(JSON.stringify(key));
  return {
    destination: null,
    hasMore: false,
    eventId: null,
    rejectionId: null,
    canRetry: false,
    ...given,
    id: `iss_${hash.slice(0, 24)}`,
    provider,
    destinationId,
  };
}
