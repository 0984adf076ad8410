import { type Static, Type } from "@sinclair/typebox";

import { pageOf } from "../../web/page.schema.ts";
import {
  count,
  documented,
  instant,
  listOf,
  nullable,
  resource,
  text,
  word,
} from "../../web/schema.ts";
import { destinationSchema } from "../destination.ts";

export const healthSchema = resource("DestinationHealth", "Health of a destination.", {
  circuit: word(
    ["closed", "open", "probing"],
    "`open`: nothing is sent after many failures. `probing`: the next attempt decides.",
  ),
  waiting: count("Pending and retrying deliveries, at most 10,000.", 0),
  dead: count("Dead deliveries, at most 10,000.", 0),
  // Of a long queue, looks at the 200 due first.
  oldestSeconds: nullable(
    count("Age of the oldest waiting delivery in seconds; null without one.", 12),
  ),
  lastAttemptAt: nullable(instant(), "Time of the last attempt; null without."),
  lastError: nullable(text("The error of the last attempt; null if it was delivered.")),
  outcomes: listOf(
    Type.Boolean(),
    "The last attempts, newest first: whether each was delivered. At most 100.",
  ),
  successRate: nullable(
    Type.Number({ minimum: 0, maximum: 1, examples: [0.98] }),
    "The share of `outcomes` that was delivered; null without attempts.",
  ),
  p50Ms: nullable(count("Median duration of these delivered attempts, in milliseconds.", 35)),
  p95Ms: nullable(count("95th percentile of these durations.", 120)),
});

export interface DestinationHealth extends Static<typeof healthSchema> {}

export const listedDestinationSchema = resource(
  "ListedDestination",
  "Where notifications are sent, which ones, how fast and how well.",
  { ...destinationSchema.properties, health: Type.Optional(healthSchema) },
);

export interface ListedDestination extends Static<typeof listedDestinationSchema> {}

export const listedDestinationPageSchema = pageOf(listedDestinationSchema);

export const destinationQuery = documented(
  Type.Object({
    include: Type.Optional(text("`health` adds how each destination is doing.", "health")),
  }),
);
