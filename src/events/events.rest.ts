import { Elysia } from "elysia";

import type { Clock } from "../base/clock.ts";
import type { Context } from "../base/context.ts";
import { AppError } from "../base/errors.ts";
import { ownTurns } from "../base/own-turn.ts";
import { choice } from "../base/parameters.ts";
import { type Callers, operatorsOnly, routes } from "../web/rest/route.ts";
import { streamedJson } from "../web/rest/streamed-json.ts";

import { eventFilters } from "./event-filters.ts";
import {
  eventPageSchema,
  eventParams,
  type EventTimeline,
  eventTimelineSchema,
  replayQuery,
} from "./event.schema.ts";
import type { Events } from "./events.ts";
import { maxUnreadBytes, smallBytes, streamBudget } from "./stream-budget.ts";

/** The received events and their replay, for operators. */
export const eventsRest = (events: Events, callers: Callers, clock: Clock) => {
  const { route, list } = routes(callers, "Events", operatorsOnly);
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
      ...list("listEvents", "List events", {
        description:
          "Newest first. All filters must match. `q`, `subject`, `severity` and `delivery` read the search index, which follows new events within a moment.",
        ids: "evt_",
        filters: eventFilters,
        include: {
          words: ["severity", "delivery"],
          description:
            "A list of these: `total` adds the number of events, `severity` and `delivery` those of each.",
          examples: ["severity", "total,severity"],
        },
        response: eventPageSchema,
        serve: ({ ctx, page, filters, included }) => {
          const extras = {
            severity: included.includes("severity"),
            delivery: included.includes("delivery"),
          };
          return events.list(ctx, page, filters, extras);
        },
      }),
    )
    .get(
      "/:id",
      ...route("getEvent", "Read an event with its receipt and notifications", {
        params: eventParams,
        response: eventTimelineSchema,
        problems: [404],
        serve: ({ ctx, params, request }) => read(ctx, params.id, request),
      }),
    )
    .post(
      "/:id/replay",
      ...route("replayEvent", "Replay an event", {
        description:
          "Interprets the stored body again. Failed notifications are sent again at once under their own ids. If none failed, new notifications are sent; if `onlyUndelivered` is true, only for an event that has none.",
        params: eventParams,
        query: replayQuery,
        response: eventTimelineSchema,
        problems: [404],
        serve: async ({ ctx, params, query, request }) => {
          const onlyUndelivered = choice(query, "onlyUndelivered", ["true", "false"]);
          await events.replay(ctx, params.id, { onlyUndelivered: onlyUndelivered === "true" });
          // The response has the body, so it is recorded as a read of it.
          return read(ctx, params.id, request);
        },
      }),
    );
};
