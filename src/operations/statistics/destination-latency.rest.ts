import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { destinationParams } from "../../outbound/destinations/destination.schema.ts";
import { type Callers, routes } from "../../web/rest/route.ts";

import type { ReadLatency } from "./destination-latency.ts";
import { readSpan } from "./span.ts";
import {
  destinationLatencyQuery,
  destinationLatencySchema,
  maxLatencyPoints,
} from "./statistics.schema.ts";

/** How long deliveries to a destination took, for those who may read it. */
export const destinationLatencyRest = (
  readLatency: ReadLatency,
  callers: Callers,
  clock: Clock,
) => {
  const { route } = routes(callers, "Destinations");
  return new Elysia({ name: "destination-latency" }).get(
    "/v1/destinations/:id/latency",
    ...route("getDestinationLatency", "Get how long deliveries to a destination took, over time", {
      costly: true,
      description: "From the newest 100 attempts of each step.",
      params: destinationParams,
      query: destinationLatencyQuery,
      response: destinationLatencySchema,
      problems: [404],
      serve: ({ ctx, params, query }) =>
        readLatency(ctx, params.id, readSpan(query, clock.now(), maxLatencyPoints)),
    }),
  );
};
