import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { type Authenticated, bearer } from "../../web/rest/auth.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { invalidParameter, single, wholeNumber } from "../../web/rest/query.ts";
import { urlOf } from "../../web/rest/url.ts";

import {
  deliveryStatisticsQuery,
  deliveryStatisticsSchema,
  healthStatisticsSchema,
} from "./statistics.schema.ts";
import { maxHoursByMinutes, maxPoints, type Span, type Statistics } from "./statistics.ts";

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
        const span = readSpan(urlOf(exchange.request).searchParams, clock.now());
        return statistics.deliveries(ctx, span);
      },
      {
        query: deliveryStatisticsQuery,
        response: { 200: deliveryStatisticsSchema, ...problemResponses(401, 403) },
        detail: {
          operationId: "getDeliveryStatistics",
          tags: ["Operators"],
          security: bearer,
          summary: "Count deliveries over time by provider and verdict",
          description: "Kept for 31 days. Needs the role operator or admin.",
        },
      },
    )
    .get("/health", async (exchange) => statistics.health(await authenticated(exchange)), {
      response: { 200: healthStatisticsSchema, ...problemResponses(401, 403) },
      detail: {
        operationId: "getHealthStatistics",
        tags: ["Operators"],
        security: bearer,
        summary: "Get the health of the program",
        description: "Needs the role operator or admin.",
      },
    });

const hourMs = 3_600_000;
const maxStepSeconds = 86_400;

/** The requested span, in whole steps. Throws `invalid-parameter`. */
function readSpan(query: URLSearchParams, nowMs: number): Span {
  const stepSeconds = wholeNumber(query, "step", 60) ?? 60;
  if (stepSeconds % 60 !== 0 || stepSeconds > maxStepSeconds) {
    throw invalidParameter("step", `Must be a multiple of 60 up to ${maxStepSeconds} seconds`);
  }
  const to = timeOf(query, "to") ?? nowMs;
  const from = timeOf(query, "from") ?? to - hourMs;
  if (from >= to) throw invalidParameter("from", "Must be before to");
  const stepMs = stepSeconds * 1_000;
  const fromMs = Math.floor(from / stepMs) * stepMs;
  const toMs = Math.ceil(to / stepMs) * stepMs;
  if ((toMs - fromMs) / stepMs > maxPoints) {
    throw invalidParameter("step", `Results in more than ${maxPoints} points. Use a longer step.`);
  }
  if (stepSeconds % 3_600 !== 0 && toMs - fromMs > maxHoursByMinutes * hourMs) {
    const detail = `Must be a multiple of 3600 for more than ${maxHoursByMinutes} hours`;
    throw invalidParameter("step", detail);
  }
  return { fromMs, toMs, stepSeconds };
}

/** The end of the year 9999. */
const latestMs = Date.UTC(10_000, 0);

/** A time in a query, in milliseconds since the epoch, or undefined if it is missing. */
function timeOf(query: URLSearchParams, name: string): number | undefined {
  const value = single(query, name);
  if (value === undefined) return undefined;
  const expected = "Must be a time since 1970 with an offset, such as 2026-11-21T09:00:00Z";
  let ms: number;
  try {
    ms = Temporal.Instant.from(value).epochMilliseconds;
  } catch {
    throw invalidParameter(name, expected);
  }
  // Beyond these limits, steps could begin or end outside the range of Date.
  if (ms < hourMs || ms > latestMs) throw invalidParameter(name, expected);
  return ms;
}
