import { type Static, Type } from "@sinclair/typebox";

import { pageOf } from "../../web/page.schema.ts";
import { count, listOf, nullable, resource } from "../../web/schema.ts";
import { deliveryFields } from "../delivery.ts";
import { attemptSchema } from "../notification.ts";

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
