import { Elysia } from "elysia";

import type { Clock } from "../base/clock.ts";
import type { Context } from "../base/context.ts";
import { AppError } from "../base/errors.ts";
import { queriedFilters } from "../base/filters.ts";
import { ownTurns } from "../base/own-turn.ts";
import { choice } from "../base/parameters.ts";
import { type Authenticated, operations, operatorsOnly } from "../web/rest/auth.ts";
import { documentedHeaders, linkHeaders } from "../web/rest/documented-headers.ts";
import { problemResponses } from "../web/rest/problem.schema.ts";
import { servePage } from "../web/rest/serve.ts";
import { streamedJson } from "../web/rest/streamed-json.ts";
import { urlOf } from "../web/rest/url.ts";

import { eventFilters } from "./event-filters.ts";
import {
  eventListQuery,
  eventPageSchema,
  eventParams,
  type EventTimeline,
  eventTimelineSchema,
  replayQuery,
} from "./event.schema.ts";
import type { Events } from "./events.ts";
import { maxUnreadBytes, smallBytes, streamBudget } from "./stream-budget.ts";

const operation = operations("Operators", operatorsOnly);

/** The received events and their replay, for operators. */
export const eventsRest = (events: Events, authenticated: Authenticated, clock: Clock) => {
  const budget = streamBudget(maxUnreadBytes, clock);
  const ownTurn = ownTurns();

  /** Waits for memory if the body is large. Disconnects a client that does not read it while others wait. */
  async function read(ctx: Context, id: string, request: Request): Promise<EventTimeline> {
    const bytes = await events.bodyBytes(ctx, id);
    if (bytes <= smallBytes) return events.read(ctx, id);
    const overdue = new AbortController();
    const free = await budget.reserve(bytes, request.signal, () => overdue.abort());
    try {
      // The client has gone and reads no response.
      if (request.signal.aborted) throw new AppError("bad-request", "The client disconnected");
      // To read a large body and to make a response of it each block the event loop for a while.
      await ownTurn();
      const event = await events.read(ctx, id);
      await ownTurn();
      const response = streamedJson(event, free, overdue.signal);
      // Guarantee: Elysia sends a Response as it is. Its types allow one only where no handler returns anything else.
      return response as unknown as EventTimeline;
    } catch (error) {
      free();
      throw error;
    }
  }

  return new Elysia({ name: "events", prefix: "/v1/events" })
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
            return events.list(ctx, page, queriedFilters(eventFilters, query), extras);
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
      async (exchange) => read(await authenticated(exchange), exchange.params.id, exchange.request),
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
        return read(ctx, id, exchange.request);
      },
      {
        parse: "none",
        params: eventParams,
        query: replayQuery,
        response: { 200: eventTimelineSchema, ...problemResponses(401, 403, 404, 429) },
        detail: operation(
          "replayEvent",
          "Replay an event",
          "Interprets the stored body again. Failed notifications are sent again at once under their own ids. If none failed, new notifications are sent, unless `onlyUndelivered` is true.",
        ),
      },
    );
};
