import { defineTable } from "../db/table.ts";

/** What became of a delivery, as counted. */
export const verdicts = [
  "accepted",
  "duplicate",
  "ignored",
  "unreadable",
  "refused",
  "limited",
  "unavailable",
] as const;
export type Verdict = (typeof verdicts)[number];

/** The verdicts of deliveries whose signature was right: the provider is alive and well set up. */
export const verifiedVerdicts = [
  "accepted",
  "duplicate",
  "ignored",
  "unreadable",
] as const satisfies readonly Verdict[];

/** Each delivery is counted in its minute and in its hour, so that long charts need not add up minutes. */
export const spansMinutes = [1, 60] as const;
export type SpanMinutes = (typeof spansMinutes)[number];

/** How many deliveries came in one minute or hour. */
export interface DeliveryCount {
  readonly spanMinutes: SpanMinutes;
  /** The first of the span, in whole minutes since the epoch. */
  readonly minute: number;
  /** `unknown` for addresses at which nobody is registered. */
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
