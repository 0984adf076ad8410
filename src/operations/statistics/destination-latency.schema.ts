import { count, instant, listOf, nullable, schemaOf } from "../../web/schema.ts";

import {
  type DestinationLatency,
  type LatencyStep,
  maxLatencyPoints,
} from "./destination-latency.ts";
import { spanQuery } from "./span.schema.ts";

const stepSchema = schemaOf<LatencyStep>()(
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

export const destinationLatencySchema = schemaOf<DestinationLatency>()(
  "DestinationLatency",
  "How long deliveries to a destination took, over time.",
  {
    from: instant({ description: "Start of the first step." }),
    to: instant({ description: "End of the last step." }),
    stepSeconds: count("Seconds per step.", 60),
    steps: listOf(stepSchema, { description: "In order, one per step." }),
  },
);

export const destinationLatencyQuery = spanQuery(maxLatencyPoints);
