import { Elysia } from "elysia";

import { type Callers, operatorsOnly, routes } from "../../web/rest/route.ts";

import { providerStatusesSchema } from "./provider-status.schema.ts";
import type { ProviderStatusService } from "./provider-status.ts";

/** The status of each provider, for operators. */
export const providerStatusRest = (providers: ProviderStatusService, callers: Callers) => {
  const { route } = routes(callers, "Providers", operatorsOnly);
  return new Elysia({ name: "provider-status" }).get(
    "/v1/providers",
    ...route("listProviders", "Get the status of each provider", {
      description: "Whether it is silent, and which of its secrets is in use.",
      response: providerStatusesSchema,
      serve: ({ ctx }) => providers.list(ctx),
    }),
  );
};
