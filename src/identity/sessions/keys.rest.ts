import { Elysia } from "elysia";

import { type Callers, routes } from "../../web/rest/route.ts";

import { apiKeyInputSchema, newApiKeySchema } from "./api-key.schema.ts";
import { keyFilters } from "./session-filters.ts";
import { sessionPageSchema, sessionParams } from "./session.schema.ts";
import { sessionSchema } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import type { StoredTokens } from "./stored-tokens.ts";

interface Parts {
  readonly sessions: Sessions;
  readonly storedTokens: StoredTokens;
  readonly callers: Callers;
}

export const keysRest = ({ sessions, storedTokens, callers }: Parts) => {
  const { route, list } = routes(callers, "Authentication");
  return new Elysia({ name: "keys" })
    .get(
      "/v1/keys",
      ...list("listKeys", "List API keys", {
        description: "Newest first: your own; for admins all.",
        ids: "ses_",
        filters: keyFilters,
        response: sessionPageSchema,
        problems: [403],
        serve: ({ ctx, page, filters }) => sessions.list(ctx, page, { ...filters, kind: "key" }),
      }),
    )
    .post(
      "/v1/keys",
      ...route("createKey", "Make an API key", {
        description:
          "Requests with the key are yours, with the role of the key. You have at most 20. The key is shown only here: if the response is lost, revoke it and make another one. An API key cannot make keys.",
        body: apiKeyInputSchema,
        success: 201,
        location: ({ id }) => `/v1/keys/${id}`,
        response: newApiKeySchema,
        problems: [403],
        serve: ({ ctx, body, ...exchange }) =>
          storedTokens.createKey(ctx, body, callers.addressOf(exchange)),
      }),
    )
    .get(
      "/v1/keys/:id",
      ...route("getKey", "Read an API key", {
        description: "One of your own; for admins any.",
        params: sessionParams,
        response: sessionSchema,
        problems: [404],
        serve: ({ ctx, params }) => sessions.getKey(ctx, params.id),
      }),
    )
    .delete(
      "/v1/keys/:id",
      ...route("revokeKey", "Revoke an API key", {
        description: "Takes effect with the next request; a stream ends within a minute.",
        params: sessionParams,
        response: sessionSchema,
        problems: [404],
        serve: ({ ctx, params }) => sessions.revokeKey(ctx, params.id),
      }),
    );
};
