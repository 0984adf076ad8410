import { defineTable } from "../../db/table.ts";
import type { Destination } from "../../outbound/destination.ts";

/** What is wrong, most urgent first. */
export const issueKinds = [
  "circuit-open",
  "dead-letters",
  "rejected",
  "provider-silent",
  "retrying",
] as const;
type IssueKind = (typeof issueKinds)[number];

/** Failures of one kind with the same cause, at one provider or destination. */
export interface Issue {
  /** `iss_` and a hash of kind, cause, provider and destination: the same while the issue lasts. */
  readonly id: `iss_${string}`;
  readonly kind: IssueKind;
  /** The reason of a rejection, or what the destination answered, such as `HTTP 503`. */
  readonly cause: string;
  /** The provider whose deliveries are affected; null for all. */
  readonly provider: string | null;
  /** The destination that fails; null if the failure is on receipt. */
  readonly destinationId: Destination["id"] | null;
  /** The destination's name. */
  readonly destination: string | null;
  /** Deliveries that are affected. */
  readonly count: number;
  /** Whether there are more than `count`: only the newest deliveries are read. */
  readonly hasMore: boolean;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  /** What to do, in one sentence. */
  readonly advice: string;
  /** The latest event affected; null if none was stored. */
  readonly eventId: `evt_${string}` | null;
  /** The latest rejected delivery, for the kind `rejected`. */
  readonly rejectionId: `rej_${string}` | null;
  /** Whether its deliveries can be sent again. */
  readonly canRetry: boolean;
  readonly mutedUntil: Date | null;
}

export interface Issues {
  readonly data: readonly Issue[];
}

/** Operators do not want to see an issue until then. */
export interface Mute {
  readonly issueId: Issue["id"];
  readonly until: Date;
}

export const mutesTable = defineTable<Mute>("mutes", { issueId: "text", until: "instant" });
