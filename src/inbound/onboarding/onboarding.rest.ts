import { Elysia } from "elysia";

import { adminsOnly, type Callers, routes } from "../../web/rest/route.ts";
import { acknowledgementSchema } from "../model/webhook-request.ts";

import {
  catalogueSchema,
  providerParams,
  providerSetupSchema,
  providerSetupWithSecretSchema,
} from "./onboarding.schema.ts";
import type { Onboarding } from "./onboarding.ts";
import { newProviderSchema, newSecretSchema, testEventSchema } from "./provider-input.ts";

const path = "/v1/providers";

/** Adds providers and connects them, for admins. */
export const onboardingRest = (onboarding: Onboarding, callers: Callers) => {
  const { route } = routes(callers, "Providers", adminsOnly);
  return new Elysia({ name: "onboarding", prefix: path })
    .get(
      "/catalogue",
      ...route("listProviderCatalogue", "List the services that can be added", {
        response: catalogueSchema,
        serve: ({ ctx }) => onboarding.catalogue(ctx),
      }),
    )
    .post(
      "",
      ...route("addProvider", "Add a provider", {
        description:
          "Writes a provider file into PROVIDERS_DIR and the secret into SECRETS_DIR, and loads both. If anything is wrong, nothing changes.",
        body: newProviderSchema,
        success: 201,
        response: providerSetupWithSecretSchema,
        location: ({ provider }) => `${path}/${provider}`,
        serve: ({ ctx, body }) => onboarding.add(ctx, body),
      }),
    )
    .get(
      "/:id",
      ...route("getProvider", "Read how a provider is connected", {
        params: providerParams,
        response: providerSetupSchema,
        problems: [404],
        serve: ({ ctx, params }) => onboarding.read(ctx, params.id),
      }),
    )
    .put(
      "/:id/secret",
      ...route("setProviderSecret", "Store a provider's webhook secret", {
        description:
          "In SECRETS_DIR, and loads it. Of the secrets stored before, the one that verified a delivery last stays accepted.",
        params: providerParams,
        body: newSecretSchema,
        response: providerSetupWithSecretSchema,
        problems: [404],
        serve: ({ ctx, params, body }) => onboarding.setSecret(ctx, params.id, body),
      }),
    )
    .post(
      "/:id/test",
      ...route("testProvider", "Send a signed test event", {
        description:
          "Signs a sample as the service would and receives it, so that it appears among the events. At most 20 tests per minute and caller, those of destinations included.",
        params: providerParams,
        body: testEventSchema,
        response: acknowledgementSchema,
        problems: [404],
        serve: ({ ctx, params, body, ...exchange }) =>
          onboarding.test(ctx, params.id, body, {
            origin: new URL(exchange.request.url).origin,
            address: callers.addressOf(exchange),
          }),
      }),
    );
};
