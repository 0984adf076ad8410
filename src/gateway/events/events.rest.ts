import { Elysia } from "elysia";

import { documentedHeaders, linkHeaders } from "../../web/rest/documented-headers.ts";
import { type Authenticated, bearer } from "../../web/rest/auth.ts";
import { servePage } from "../../web/rest/serve.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { choice, textFilter } from "../../web/rest/query.ts";
import { urlOf } from "../../web/rest/url.ts";

import {
  eventListQuery,
  eventPageSchema,
  eventParams,
  eventTimelineSchema,
  replayQuery,
} from "./event.schema.ts";
import { eventStatuses } from "../event.ts";
import type { Events } from "./events.ts";

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
            const filters = {
              provider: textFilter(query, "provider"),
              type: textFilter(query, "type"),
              status: choice(query, "status", eventStatuses),
            };
            return events.list(ctx, page, filters, { severity: included.includes("severity") });
          },
          ["severity"],
        );
      },
      {
        query: eventListQuery,
        response: {
          200: documentedHeaders(eventPageSchema, linkHeaders),
          ...problemResponses(401, 403),
        },
        detail: {
          operationId: "listEvents",
          tags: ["Operators"],
          security: bearer,
          summary: "List events",
          description: "Newest first. Needs the role operator or admin.",
        },
      },
    )
    .get(
      "/:id",
      async (exchange) => events.read(await authenticated(exchange), exchange.params.id),
      {
        params: eventParams,
        response: { 200: eventTimelineSchema, ...problemResponses(401, 403, 404) },
        detail: {
          operationId: "getEvent",
          tags: ["Operators"],
          security: bearer,
          summary: "Read an event with its receipt and notifications",
          description: "Needs the role operator or admin.",
        },
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
        return events.replay(ctx, exchange.params.id, {
          onlyUndelivered: onlyUndelivered === "true",
        });
      },
      {
        parse: "none",
        params: eventParams,
        query: replayQuery,
        response: { 200: eventTimelineSchema, ...problemResponses(401, 403, 404) },
        detail: {
          operationId: "replayEvent",
          tags: ["Operators"],
          security: bearer,
          summary: "Replay an event",
          description:
            "Normalises the stored body again. Failed notifications are sent again at once under their own ids. If none failed, new notifications are sent, unless `onlyUndelivered` is true. Needs the role operator or admin.",
        },
      },
    );
