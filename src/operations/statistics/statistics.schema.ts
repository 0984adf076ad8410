import { Type } from "@sinclair/typebox";

import type { Acknowledgements } from "../../inbound/receive/latency.ts";
import { verdicts } from "../../inbound/webhook-count.ts";
import { count, instant, listOf, nullable, schemaOf, text, word } from "../../web/schema.ts";

import { spanQuery } from "./span.schema.ts";
import {
  type DeliverySeries,
  type DeliveryStatistics,
  type HealthStatistics,
  maxPoints,
  type OutboxDepth,
} from "./statistics.ts";

const seriesSchema = schemaOf<DeliverySeries>()(
  "DeliverySeries",
  "Deliveries of one provider and verdict.",
  {
    provider: text("`unknown` for paths without a registered provider.", "code_host"),
    verdict: word(verdicts, { description: "The result of the deliveries." }),
    counts: listOf(Type.Integer({ minimum: 0 }), { description: "One count per step." }),
  },
);

export const deliveryStatisticsSchema = schemaOf<DeliveryStatistics>()(
  "DeliveryStatistics",
  "Deliveries over time, by provider and verdict.",
  {
    from: instant({ description: "Start of the first step." }),
    to: instant({ description: "End of the last step." }),
    stepSeconds: count("Seconds per step.", 60),
    series: listOf(seriesSchema, { description: "The series with at least one delivery." }),
  },
);

export const deliveryStatisticsQuery = spanQuery(maxPoints);

const milliseconds = (description: string) =>
  nullable(Type.Number({ minimum: 0, description, examples: [1.4] }));

const acknowledgementsSchema = schemaOf<Acknowledgements>()(
  "Acknowledgements",
  "How long this process took to acknowledge deliveries, including the commit.",
  {
    windowSeconds: count("The period that the numbers cover.", 300),
    count: count("Acknowledgements in that time.", 812),
    p50Ms: milliseconds("50 % took no longer. Accurate to 5 %."),
    p95Ms: milliseconds("95 % took no longer."),
    p99Ms: milliseconds("99 % took no longer."),
  },
);

const outboxSchema = schemaOf<OutboxDepth>()("OutboxDepth", "Notifications not yet delivered.", {
  pending: count("Not attempted yet.", 0),
  retrying: count("Failed, with a retry scheduled.", 2),
  dead: count("Failed, without further retries.", 1),
  oldestSeconds: nullable(
    count("Age of the oldest pending or retrying notification; null without one.", 340),
  ),
});

export const healthStatisticsSchema = schemaOf<HealthStatistics>()(
  "HealthStatistics",
  "The health of the program.",
  {
    version: text("The program's version.", "0.1.0"),
    uptimeSeconds: count("Whole seconds since the program started.", 3600),
    database: word(["sqlite", "postgres"], { description: "The kind of database." }),
    acknowledgements: acknowledgementsSchema,
    outbox: outboxSchema,
  },
);
