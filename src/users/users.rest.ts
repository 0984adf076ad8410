import { Elysia } from "elysia";

import { type Authenticated, servePage } from "../http/door.ts";
import { readIdempotencyKey } from "../http/idempotency-key.ts";
import { readJson } from "../http/json-body.ts";

import type { Users } from "./users.ts";

const path = "/v1/users";

/** Lists and makes users. */
export const usersRest = (users: Users, authenticated: Authenticated) =>
  new Elysia({ name: "users", prefix: path })
    .get("", async (exchange) => {
      const ctx = await authenticated(exchange);
      const page = await servePage(exchange, "", (request) => users.list(ctx, request));
      // The specification answers a bare array; the way on is in the Link header.
      return [...page.data];
    })
    .get("/:id", async (exchange) => users.read(await authenticated(exchange), exchange.params.id))
    .post(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const { request, set } = exchange;
        const key = readIdempotencyKey(request);
        const { user, replayed } = await users.create(ctx, await readJson(request), key);
        set.status = 201;
        set.headers["location"] = `${path}/${user.id}`;
        if (replayed) set.headers["idempotent-replayed"] = "true";
        return user;
      },
      { parse: "none" },
    );
