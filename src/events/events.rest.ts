import { Elysia } from "elysia";

import { type Authenticated, servePage } from "../http/door.ts";
import { choice, textFilter } from "../http/query.ts";

import { eventStatuses } from "./event.ts";
import type { Events } from "./events.ts";

/** What came in, for operators. */
export const eventsRest = (events: Events, authenticated: Authenticated) =>
  new Elysia({ name: "events", prefix: "/v1/events" })
    .get("", async (exchange) => {
      const ctx = await authenticated(exchange);
      return servePage(exchange, "evt_", (page, query) =>
        events.list(ctx, page, {
          provider: textFilter(query, "provider"),
          type: textFilter(query, "type"),
          status: choice(query, "status", eventStatuses),
        }),
      );
    })
    .get("/:id", async (exchange) => events.read(await authenticated(exchange), exchange.params.id))
    .post(
      "/:id/replay",
      async (exchange) => events.replay(await authenticated(exchange), exchange.params.id),
      { parse: "none" },
    );
