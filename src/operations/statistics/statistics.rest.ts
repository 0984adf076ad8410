import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { invalidParameter } from "../../base/parameters.ts";
import { type Authenticated, operations, operatorsOnly } from "../../web/rest/auth.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { urlOf } from "../../web/rest/url.ts";

import { readSpan, type Span } from "./span.ts";
import {
  deliveryStatisticsQuery,
  deliveryStatisticsSchema,
  healthStatisticsSchema,
} from "./statistics.schema.ts";
import { maxHoursByMinutes, maxPoints, type Statistics } from "./statistics.ts";

const operation = operations("Operators", operatorsOnly);

/** Delivery and health statistics, for operators. */
export const statisticsRest = (
  statistics: Statistics,
  authenticated: Authenticated,
  clock: Clock,
) =>
  new Elysia({ name: "statistics", prefix: "/v1/statistics" })
    .get(
      "/deliveries",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const span = readSpan(urlOf(exchange.request).searchParams, clock.now(), maxPoints);
        return statistics.deliveries(ctx, checkRows(span));
      },
      {
        query: deliveryStatisticsQuery,
        response: { 200: deliveryStatisticsSchema, ...problemResponses(401, 403) },
        detail: operation(
          "getDeliveryStatistics",
          "Count deliveries over time by provider and verdict",
          "Kept for 31 days.",
        ),
      },
    )
    .get("/health", async (exchange) => statistics.health(await authenticated(exchange)), {
      response: { 200: healthStatisticsSchema, ...problemResponses(401, 403) },
      detail: operation("getHealthStatistics", "Get the health of the program"),
    });

const hourMs = 3_600_000;

/** Throws `invalid-parameter` for a span of more rows than one query may sum. */
function checkRows({ fromMs, toMs, stepSeconds }: Span): Span {
  if (stepSeconds % 3_600 !== 0 && toMs - fromMs > maxHoursByMinutes * hourMs) {
    const detail = `Must be a multiple of 3600 for more than ${maxHoursByMinutes} hours`;
    throw invalidParameter("step", detail);
  }
  return { fromMs, toMs, stepSeconds };
}
