import { Type } from "@sinclair/typebox";

import {
  count,
  documented,
  instant,
  listOf,
  nullable,
  schemaOf,
  text,
  word,
} from "../../web/rest/schema.ts";

import { verdicts } from "../delivery-count.ts";
import type { Acknowledgements } from "./latency.ts";
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
    provider: text("`unknown` for addresses that nobody is registered at.", "code_host"),
    verdict: word(verdicts, { description: "What became of them." }),
    counts: listOf(Type.Integer({ minimum: 0 }), { description: "One for each step." }),
  },
);

export const deliveryStatisticsSchema = schemaOf<DeliveryStatistics>()(
  "DeliveryStatistics",
  "Deliveries by provider and verdict, over time.",
  {
    from: instant({ description: "The first step begins here." }),
    to: instant({ description: "The last step ends here." }),
    stepSeconds: count("Seconds a step.", 60),
    series: listOf(seriesSchema, { description: "Those that have any delivery." }),
  },
);

const time = "2026-11-21T08:00:00Z";

export const deliveryStatisticsQuery = documented(
  Type.Object({
    from: Type.Optional(text("A time with its offset; an hour before `to` when left out.", time)),
    to: Type.Optional(text("A time with its offset; now when left out.", time)),
    step: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 86_400,
        multipleOf: 60,
        default: 60,
        description: `Seconds a step. There can be ${maxPoints} of them.`,
      }),
    ),
  }),
);

const milliseconds = (description: string) =>
  nullable(Type.Number({ minimum: 0, description, examples: [1.4] }));

const acknowledgementsSchema = schemaOf<Acknowledgements>()(
  "Acknowledgements",
  "How long this process took to acknowledge deliveries, commit included.",
  {
    windowSeconds: count("How far back it looks.", 300),
    count: count("Acknowledgements in that time.", 812),
    p50Ms: milliseconds("Half of them took no longer, to within 5 %."),
    p95Ms: milliseconds("95 % took no longer."),
    p99Ms: milliseconds("99 % took no longer."),
  },
);

const outboxSchema = schemaOf<OutboxDepth>()("OutboxDepth", "Notifications not yet delivered.", {
  pending: count("Never tried yet.", 0),
  retrying: count("Tried, and due again.", 2),
  dead: count("Given up.", 1),
  oldestSeconds: nullable(count("Age of the oldest that waits; null when none does.", 340)),
});

export const healthStatisticsSchema = schemaOf<HealthStatistics>()(
  "HealthStatistics",
  "How the program is doing.",
  {
    version: text("The program's version.", "0.1.0"),
    uptimeSeconds: count("Whole seconds since the program started.", 3600),
    database: word(["sqlite", "postgres"], { description: "The kind of database." }),
    acknowledgements: acknowledgementsSchema,
    outbox: outboxSchema,
  },
);
