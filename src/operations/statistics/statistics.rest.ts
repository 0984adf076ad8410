import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { invalidParameter } from "../../base/parameters.ts";
import { type Callers, operatorsOnly, routes } from "../../web/rest/route.ts";

import { readSpan, type Span } from "./span.ts";
import {
  deliveryStatisticsQuery,
  deliveryStatisticsSchema,
  healthStatisticsSchema,
  maxPoints,
} from "./statistics.schema.ts";
import { maxHoursByMinutes, type Statistics } from "./statistics.ts";

/** Delivery and health statistics, for operators. */
export const statisticsRest = (statistics: Statistics, callers: Callers, clock: Clock) => {
  const { route } = routes(callers, "Issues and health", operatorsOnly);
  return new Elysia({ name: "statistics", prefix: "/v1/statistics" })
    .get(
      "/deliveries",
      ...route("getDeliveryStatistics", "Count deliveries over time by provider and verdict", {
        costly: true,
        description: "Kept for 31 days.",
        query: deliveryStatisticsQuery,
        response: deliveryStatisticsSchema,
        serve: ({ ctx, query }) =>
          statistics.deliveries(ctx, checkRows(readSpan(query, clock.now(), maxPoints))),
      }),
    )
    .get(
      "/health",
      ...route("getHealthStatistics", "Get the health of the program", {
        costly: true,
        response: healthStatisticsSchema,
        serve: ({ ctx }) => statistics.health(ctx),
      }),
    );
};

const hourMs = 3_600_000;

/** Throws `invalid-parameter` for a span of more rows than one query may sum. */
function checkRows({ fromMs, toMs, stepSeconds }: Span): Span {
  if (stepSeconds % 3_600 !== 0 && toMs - fromMs > maxHoursByMinutes * hourMs) {
    const detail = `Must be a multiple of 3600 for more than ${maxHoursByMinutes} hours`;
    throw invalidParameter("step", detail);
  }
  return { fromMs, toMs, stepSeconds };
}
