import { Elysia } from "elysia";

import { type Callers, routes } from "../../web/rest/route.ts";

import {
  apiKeyInputSchema,
  apiKeyPageSchema,
  apiKeySchema,
  newApiKeySchema,
} from "./api-key.schema.ts";
import type { ApiKeys } from "./api-keys.ts";
import { keyFilters } from "./session-filters.ts";
import { sessionParams } from "./session.schema.ts";

interface Parts {
  readonly apiKeys: ApiKeys;
  readonly callers: Callers;
}

export const keysRest = ({ apiKeys, callers }: Parts) => {
  const { route, list } = routes(callers, "Authentication");
  return new Elysia({ name: "keys" })
    .get(
      "/v1/keys",
      ...list("listKeys", "List API keys", {
        description: "Newest first: your own; for admins all.",
        ids: "ses_",
        filters: keyFilters,
        response: apiKeyPageSchema,
        problems: [403],
        serve: ({ ctx, page, filters }) => apiKeys.list(ctx, page, filters),
      }),
    )
    .post(
      "/v1/keys",
      ...route("createKey", "Make an API key", {
        description:
          "A request with the key is yours, with the role of the key. You have at most 20. The key is shown only here: if the response is lost, revoke it and make another. An API key cannot make keys.",
        body: apiKeyInputSchema,
        success: 201,
        location: ({ id }) => `/v1/keys/${id}`,
        response: newApiKeySchema,
        problems: [403, 429],
        serve: ({ ctx, body, ...exchange }) =>
          apiKeys.create(ctx, body, callers.addressOf(exchange)),
      }),
    )
    .get(
      "/v1/keys/:id",
      ...route("getKey", "Read an API key", {
        description: "One of your own; for admins any.",
        params: sessionParams,
        response: apiKeySchema,
        problems: [404],
        serve: ({ ctx, params }) => apiKeys.get(ctx, params.id),
      }),
    )
    .delete(
      "/v1/keys/:id",
      ...route("revokeKey", "Revoke an API key", {
        description: "Takes effect with the next request; a stream ends within a minute.",
        params: sessionParams,
        response: apiKeySchema,
        problems: [404],
        serve: ({ ctx, params }) => apiKeys.revoke(ctx, params.id),
      }),
    );
};
