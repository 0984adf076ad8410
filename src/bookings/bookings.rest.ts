import { Elysia } from "elysia";

import { type Authenticated, servePage } from "../http/door.ts";
import { readIdempotencyKey } from "../http/idempotency-key.ts";
import { readJson } from "../http/json-body.ts";
import { textFilter } from "../http/query.ts";

import type { Bookings } from "./bookings.ts";

const path = "/v1/api/bookings";

/** Seats, sold and given back. Everyone sees their own; admins see all. */
export const bookingsRest = (bookings: Bookings, authenticated: Authenticated) =>
  new Elysia({ name: "bookings", prefix: path })
    .post(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const { request, set } = exchange;
        const key = readIdempotencyKey(request);
        const { booking, replayed } = await bookings.create(ctx, await readJson(request), key);
        set.status = 201;
        set.headers["location"] = `${path}/${booking.bookingId}`;
        if (replayed) set.headers["idempotent-replayed"] = "true";
        return booking;
      },
      { parse: "none" },
    )
    .get("", async (exchange) => {
      const ctx = await authenticated(exchange);
      return servePage(exchange, "bk_", (page, query) =>
        bookings.list(ctx, page, { userId: textFilter(query, "userId") }),
      );
    })
    .get("/:id", async (exchange) =>
      bookings.read(await authenticated(exchange), exchange.params.id),
    )
    .get("/:id/cancellation", async (exchange) =>
      bookings.quote(await authenticated(exchange), exchange.params.id),
    )
    .delete(
      "/:id",
      async (exchange) => bookings.cancel(await authenticated(exchange), exchange.params.id),
      { parse: "none" },
    );
