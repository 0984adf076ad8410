import { defineTable } from "../db/table.ts";

/** The outcomes by which requests are counted. */
export const verdicts = [
  "accepted",
  "duplicate",
  "ignored",
  "unreadable",
  "recovered",
  "handshake",
  "rejected",
  "limited",
  "unavailable",
] as const;
export type Verdict = (typeof verdicts)[number];

/** The verdicts of requests with a valid signature: they show that the provider is active and configured. */
export const verifiedVerdicts = [
  "accepted",
  "duplicate",
  "ignored",
  "unreadable",
] as const satisfies readonly Verdict[];

/** Each request is counted per minute and per hour, so that long charts need not sum minutes. */
export const spansMinutes = [1, 60] as const;
export type SpanMinutes = (typeof spansMinutes)[number];

/** The number of requests in one minute or hour. */
export interface DeliveryCount {
  readonly spanMinutes: SpanMinutes;
  /** Start of the span, in whole minutes since the epoch. */
  readonly minute: number;
  /** `unknown` for requests whose path names no registered provider. */
  readonly provider: string;
  readonly verdict: Verdict;
  readonly deliveries: number;
}

export const deliveryCountsTable = defineTable<DeliveryCount>("delivery_counts", {
  spanMinutes: "integer",
  provider: "text",
  minute: "integer",
  verdict: "text",
  deliveries: "bigint",
});

export const minuteMs = 60_000;

export const minuteOf = (ms: number): number => Math.floor(ms / minuteMs);
