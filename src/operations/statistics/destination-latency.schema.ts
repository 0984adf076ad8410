import type { Static } from "@sinclair/typebox";

import { count, instant, listOf, nullable, resource } from "../../web/schema.ts";

import { spanQuery } from "./span.schema.ts";

const stepSchema = resource(
  "LatencyStep",
  "The newest attempts that started in a step, at most 100.",
  {
    attempts: count("Attempts that were made.", 42),
    failed: count("Those that failed.", 1),
    p50Ms: nullable(count("Median duration of the attempts, in milliseconds.", 35)),
    p95Ms: nullable(count("95th percentile of these durations.", 120)),
    p50SinceReceiptMs: nullable(
      count(
        "Median time from the creation of a notification to its delivery, retries included. It is created at the receipt of its event. A replay creates a new one only if none of the event's had failed.",
        60,
      ),
    ),
    p95SinceReceiptMs: nullable(count("95th percentile of these durations.", 5_200)),
  },
);

export interface LatencyStep extends Static<typeof stepSchema> {}

export const destinationLatencySchema = resource(
  "DestinationLatency",
  "How long deliveries to a destination took, over time.",
  {
    from: instant("Start of the first step."),
    to: instant("End of the last step."),
    stepSeconds: count("Seconds per step.", 60),
    steps: listOf(stepSchema, "In order, one per step."),
  },
);

export interface DestinationLatency extends Static<typeof destinationLatencySchema> {}

/** One indexed query per point, so the points bound what one request reads. */
export const maxLatencyPoints = 100;

export const destinationLatencyQuery = spanQuery(maxLatencyPoints);
