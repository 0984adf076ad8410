import { defineTable, type Stored } from "../../db/table.ts";
import { word } from "../../web/schema.ts";

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
export const webhookCountsTable = defineTable(
  "delivery_counts",
  {
    /** One of `spansMinutes`. */
    spanMinutes: "integer",
    /** `unknown` for requests whose path names no registered provider. */
    provider: "text: none",
    /** Start of the span, in whole minutes since the epoch. */
    minute: "integer",
    verdict: word(verdicts),
    deliveries: "bigint",
  },
  ["spanMinutes", "provider", "minute", "verdict"],
);

export interface WebhookCount extends Stored<typeof webhookCountsTable> {}

export const minuteMs = 60_000;

export const minuteOf = (ms: number): number => Math.floor(ms / minuteMs);
