import { type Static, Type } from "@sinclair/typebox";

import { verdicts } from "../../inbound/model/webhook-count.ts";
import { acknowledgementsSchema } from "../../inbound/receive/latency.ts";
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

const start = "2026-11-21T08:00:00Z";
const end = "2026-11-21T09:00:00Z";

/** The query of `readSpan`, for at most `maxPoints` steps. */
export const spanQuery = (maxPoints: number) =>
  documented(
    Type.Object({
      from: Type.Optional(text("A time with an offset. Default: an hour before `to`.", start)),
      to: Type.Optional(text("A time with an offset. Default: now.", end)),
      step: Type.Optional(
        Type.Integer({
          minimum: 60,
          maximum: 86_400,
          multipleOf: 60,
          default: 60,
          description: `Seconds per step, for at most ${maxPoints} steps.`,
        }),
      ),
    }),
  );

/** The time that a series covers. */
const spanFields = {
  from: instant("Start of the first step."),
  to: instant("End of the last step."),
  stepSeconds: count("Seconds per step.", 60),
};

const seriesSchema = resource("DeliverySeries", "Deliveries of one provider and verdict.", {
  provider: text("`unknown` for paths without a registered provider.", "code_host"),
  verdict: word(verdicts, "The result of the deliveries."),
  counts: listOf(Type.Integer({ minimum: 0 }), "One count per step."),
});

export interface DeliverySeries extends Static<typeof seriesSchema> {}

export const deliveryStatisticsSchema = resource(
  "DeliveryStatistics",
  "Deliveries over time, by provider and verdict.",
  {
    ...spanFields,
    series: listOf(seriesSchema, "The series with at least one delivery."),
  },
);

export interface DeliveryStatistics extends Static<typeof deliveryStatisticsSchema> {}

/** More points than the width of a screen in pixels are not useful. */
export const maxPoints = 1_500;

export const deliveryStatisticsQuery = spanQuery(maxPoints);

const outboxSchema = resource("OutboxDepth", "Notifications not yet delivered.", {
  pending: count("Not attempted yet.", 0),
  retrying: count("Failed, with a retry scheduled.", 2),
  dead: count("Failed, without further retries.", 1),
  oldestSeconds: nullable(
    count("Age of the oldest pending or retrying notification; null without one.", 340),
  ),
});

export const healthStatisticsSchema = resource("HealthStatistics", "The health of the program.", {
  version: text("The program's version.", "0.1.0"),
  uptimeSeconds: count("Whole seconds since the program started.", 3600),
  database: word(["sqlite", "postgres"], "The kind of database."),
  acknowledgements: acknowledgementsSchema,
  outbox: outboxSchema,
});

export interface HealthStatistics extends Static<typeof healthStatisticsSchema> {}

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
    ...spanFields,
    steps: listOf(stepSchema, "In order, one per step."),
  },
);

export interface DestinationLatency extends Static<typeof destinationLatencySchema> {}

/** One indexed query per point, so the points bound what one request reads. */
export const maxLatencyPoints = 100;

export const destinationLatencyQuery = spanQuery(maxLatencyPoints);
