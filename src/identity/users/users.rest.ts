import { Elysia } from "elysia";

import { type Authenticated, operations } from "../../web/rest/auth.ts";
import type { AddressOf } from "../../web/rest/client-address.ts";
import {
  documentedHeaders,
  linkHeaders,
  madeHeaders,
  totalHeaders,
} from "../../web/rest/documented-headers.ts";
import { idempotencyHeaders } from "../../web/rest/idempotency-key.ts";
import { pageQuery } from "../../web/rest/page.schema.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { serveCreation, servePage } from "../../web/rest/serve.ts";
import { documented } from "../../web/schema.ts";

import { userParams, userSchema, usersSchema } from "./user.schema.ts";
import { createUserSchema, type Users } from "./users.ts";

const path = "/v1/users";

const operation = operations("Users");

export const usersRest = (users: Users, authenticated: Authenticated, addressOf: AddressOf) =>
  new Elysia({ name: "users", prefix: path })
    .get(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const page = await servePage(exchange, "", (request) => users.list(ctx, request));
        // The specification wants a bare array, so the pagination fields of other lists are headers here.
        const { total } = page.pagination;
        if (total !== undefined) exchange.set.headers["x-total-count"] = String(total);
        return page.data;
      },
      {
        query: pageQuery,
        response: {
          200: documentedHeaders(usersSchema, { ...linkHeaders, ...totalHeaders }),
          ...problemResponses(401, 403),
        },
        detail: operation(
          "listUsers",
          "List users",
          "A bare array, newest first; `Link` leads to the next page. `include=total` answers in `X-Total-Count`.",
        ),
      },
    )
    .get(
      "/:id",
      async (exchange) => users.read(await authenticated(exchange), exchange.params.id),
      {
        params: userParams,
        response: { 200: userSchema, ...problemResponses(401, 403, 404) },
        detail: operation("getUser", "Read a user"),
      },
    )
    .post(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return serveCreation(
          exchange,
          addressOf(exchange),
          (body, key) => users.create(ctx, body, key),
          (user) => `${path}/${user.id}`,
        );
      },
      {
        parse: "none",
        body: documented(createUserSchema),
        headers: idempotencyHeaders,
        response: {
          201: documentedHeaders(userSchema, madeHeaders),
          ...problemResponses(401, 403, 409, 413, 415, 422),
        },
        detail: operation(
          "createUser",
          "Create a user",
          "E-mail addresses are unique without regard to letter case.",
        ),
      },
    );
