import { Elysia } from "elysia";

import { documentedHeaders, linkHeaders } from "../../web/rest/documented-headers.ts";
import { type Authenticated, operations, operatorsOnly } from "../../web/rest/auth.ts";
import { servePage } from "../../web/rest/serve.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { choice, textFilter, timeRange } from "../../web/rest/query.ts";
import { urlOf } from "../../web/rest/url.ts";

import {
  eventListQuery,
  eventPageSchema,
  eventParams,
  eventTimelineSchema,
  replayQuery,
} from "./event.schema.ts";
import { eventStatuses } from "../event.ts";
import { deliveryStates } from "../event-index.ts";
import type { EventFilters } from "./event-search.ts";
import type { Events } from "./events.ts";

function filtersOf(query: URLSearchParams): EventFilters {
  return {
    ...timeRange(query),
    provider: textFilter(query, "provider"),
    type: textFilter(query, "type"),
    status: choice(query, "status", eventStatuses),
    subject: textFilter(query, "subject"),
    idempotencyKey: textFilter(query, "idempotencyKey"),
    delivery: choice(query, "delivery", deliveryStates),
    q: textFilter(query, "q"),
  };
}

const operation = operations("Operators", operatorsOnly);

/** The received events and their replay, for operators. */
export const eventsRest = (events: Events, authenticated: Authenticated) =>
  new Elysia({ name: "events", prefix: "/v1/events" })
    .get(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return servePage(
          exchange,
          "evt_",
          (page, query, included) => {
            const extras = {
              severity: included.includes("severity"),
              delivery: included.includes("delivery"),
            };
            return events.list(ctx, page, filtersOf(query), extras);
          },
          ["severity", "delivery"],
        );
      },
      {
        query: eventListQuery,
        response: {
          200: documentedHeaders(eventPageSchema, linkHeaders),
          ...problemResponses(401, 403),
        },
        detail: operation(
          "listEvents",
          "List events",
          "Newest first. All filters must match. `q`, `subject` and `delivery` read the search index, which follows new events within a moment.",
        ),
      },
    )
    .get(
      "/:id",
      async (exchange) => events.read(await authenticated(exchange), exchange.params.id),
      {
        params: eventParams,
        response: { 200: eventTimelineSchema, ...problemResponses(401, 403, 404) },
        detail: operation("getEvent", "Read an event with its receipt and notifications"),
      },
    )
    .post(
      "/:id/replay",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const onlyUndelivered = choice(urlOf(exchange.request).searchParams, "onlyUndelivered", [
          "true",
          "false",
        ]);
        const { id } = exchange.params;
        await events.replay(ctx, id, { onlyUndelivered: onlyUndelivered === "true" });
        // The response has the body, so it is recorded as a read of it.
        return events.read(ctx, id);
      },
      {
        parse: "none",
        params: eventParams,
        query: replayQuery,
        response: { 200: eventTimelineSchema, ...problemResponses(401, 403, 404) },
        detail: operation(
          "replayEvent",
          "Replay an event",
          "Normalises the stored body again. Failed notifications are sent again at once under their own ids. If none failed, new notifications are sent, unless `onlyUndelivered` is true.",
        ),
      },
    );
