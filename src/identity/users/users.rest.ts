import { Elysia } from "elysia";

import { pageQuery } from "../../web/page.schema.ts";
import { documentedHeaders, linkHeaders, totalHeaders } from "../../web/rest/documented-headers.ts";
import { servePage } from "../../web/rest/pagination.ts";
import { type Callers, routes } from "../../web/rest/route.ts";

import { userParams, userSchema, usersSchema } from "./user.ts";
import { createUserSchema, type Users } from "./users.ts";

const path = "/v1/users";

export const usersRest = (users: Users, callers: Callers) => {
  const { route, creation } = routes(callers, "Users");
  return new Elysia({ name: "users", prefix: path })
    .get(
      "",
      ...route("listUsers", "List users", {
        description:
          "A bare array, newest first; `Link` leads to the next page. `include=total` answers in `X-Total-Count`.",
        query: pageQuery,
        response: documentedHeaders(usersSchema, { ...linkHeaders, ...totalHeaders }),
        problems: [403],
        serve: async (call) => {
          const page = await servePage(call, "", (request) => users.list(call.ctx, request));
          // The specification wants a bare array, so the pagination fields of other lists are headers here.
          const { total } = page.pagination;
          if (total !== undefined) call.set.headers["x-total-count"] = String(total);
          return page.data;
        },
      }),
    )
    .get(
      "/:id",
      ...route("getUser", "Read a user", {
        params: userParams,
        response: userSchema,
        problems: [403, 404],
        serve: ({ ctx, params }) => users.read(ctx, params.id),
      }),
    )
    .post(
      "",
      ...creation("createUser", "Create a user", {
        description: "E-mail addresses are unique without regard to letter case.",
        body: createUserSchema,
        response: userSchema,
        problems: [403, 409],
        location: ({ id }) => `${path}/${id}`,
        serve: ({ ctx, body, key }) => users.create(ctx, body, key),
      }),
    );
};
