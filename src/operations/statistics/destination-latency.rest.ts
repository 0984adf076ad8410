import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { destinationParams } from "../../outbound/destinations/destination.schema.ts";
import { type Authenticated, operations } from "../../web/rest/auth.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { urlOf } from "../../web/rest/url.ts";

import { destinationLatencyQuery, destinationLatencySchema } from "./destination-latency.schema.ts";
import { maxLatencyPoints, type ReadLatency } from "./destination-latency.ts";
import { readSpan } from "./span.ts";

const operation = operations("Destinations");

/** How long deliveries to a destination took, for those who may read it. */
export const destinationLatencyRest = (
  readLatency: ReadLatency,
  authenticated: Authenticated,
  clock: Clock,
) =>
  new Elysia({ name: "destination-latency" }).get(
    "/v1/destinations/:id/latency",
    async (exchange) => {
      const ctx = await authenticated(exchange);
      const query = urlOf(exchange.request).searchParams;
      return readLatency(ctx, exchange.params.id, readSpan(query, clock.now(), maxLatencyPoints));
    },
    {
      params: destinationParams,
      query: destinationLatencyQuery,
      response: { 200: destinationLatencySchema, ...problemResponses(401, 404) },
      detail: operation(
        "getDestinationLatency",
        "Get how long deliveries to a destination took, over time",
        "From the newest 100 attempts of each step.",
      ),
    },
  );
