import { Elysia } from "elysia";

import { type Authenticated, operations, operatorsOnly } from "../../web/rest/auth.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";

import { providerStatusesSchema } from "./provider-status.schema.ts";
import type { Providers } from "./provider-status.ts";

const operation = operations("Operators", operatorsOnly);

/** The status of each provider, for operators. */
export const providerStatusRest = (providers: Providers, authenticated: Authenticated) =>
  new Elysia({ name: "provider-status" }).get(
    "/v1/providers",
    async (exchange) => providers.list(await authenticated(exchange)),
    {
      response: { 200: providerStatusesSchema, ...problemResponses(401, 403) },
      detail: operation(
        "listProviders",
        "Get the status of each provider",
        "Whether it is silent, and which of its secrets is in use.",
      ),
    },
  );
