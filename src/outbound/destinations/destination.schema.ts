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
import { deliveryFields } from "../model/delivery.ts";
import { destinationSchema } from "../model/destination.ts";
import { attemptSchema } from "../model/notification.ts";

export const destinationWithSecretSchema = resource(
  "DestinationWithSecret",
  "A destination and its secret, which is shown only here.",
  {
    ...destinationSchema.properties,
    secret: nullable(
      text(
        "The signing secret (Standard Webhooks); null if the format has none, and for a retry with the same Idempotency-Key.",
      ),
    ),
  },
);

export interface DestinationWithSecret extends Static<typeof destinationWithSecretSchema> {}

export const destinationParams = documented(
  Type.Object({ id: text("The destination's id.", "dst_019377b07d4070008000000000000001") }),
);

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

const deliverySchema = resource("Delivery", "One notification on its way to one destination.", {
  ...deliveryFields,
  attempts: Type.Optional(
    listOf(attemptSchema, "Oldest first, at most the last 20. Only with `include=attempts`."),
  ),
});

export interface ListedDelivery extends Static<typeof deliverySchema> {}

export const deliveryPageSchema = pageOf(deliverySchema);

export const retriedSchema = resource("Retried", "How many deliveries are sent again.", {
  retried: count("Dead deliveries that are due again.", 3),
});

const { delivered, error } = attemptSchema.properties;

export const testResultSchema = resource("DestinationTest", "The answer to a test notification.", {
  delivered,
  responseStatus: nullable(count("The HTTP status; null if it did not respond.", 200)),
  error,
  durationMs: count("Duration in milliseconds.", 120),
});

export interface TestResult extends Static<typeof testResultSchema> {}
