import { Elysia } from "elysia";

import { requireAdmin } from "../../base/context.ts";
import { type Authenticated, operations } from "../../web/rest/auth.ts";
import type { AddressOf } from "../../web/rest/client-address.ts";
import { documentedHeaders } from "../../web/rest/documented-headers.ts";
import { readJson } from "../../web/rest/json-body.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import type { Exchange } from "../../web/rest/serve.ts";
import { documented } from "../../web/schema.ts";
import { acknowledgementSchema } from "../receive/webhook.schema.ts";

import {
  catalogueSchema,
  providerParams,
  providerSetupSchema,
  providerSetupWithSecretSchema,
} from "./onboarding.schema.ts";
import type { Onboarding } from "./onboarding.ts";
import { newProviderSchema, newSecretSchema, testEventSchema } from "./provider-input.ts";

const path = "/v1/providers";
const locationHeader = { Location: "The URL of the new provider." };

const operation = operations("Operators", "For admins.");

/** Adds providers and connects them, for admins. */
export const onboardingRest = (
  onboarding: Onboarding,
  authenticated: Authenticated,
  addressOf: AddressOf,
) => {
  /** Checked before the body is read, so that only admins can upload one. */
  const adminOf = async (exchange: Exchange) => {
    const ctx = await authenticated(exchange);
    requireAdmin(ctx);
    return ctx;
  };
  return new Elysia({ name: "onboarding", prefix: path })
    .get("/catalogue", async (exchange) => onboarding.catalogue(await authenticated(exchange)), {
      response: { 200: catalogueSchema, ...problemResponses(401, 403) },
      detail: operation("listProviderCatalogue", "List the services that can be added"),
    })
    .post(
      "",
      async (exchange) => {
        const ctx = await adminOf(exchange);
        const body = await readJson(exchange.request, addressOf(exchange));
        const made = await onboarding.add(ctx, body);
        exchange.set.status = 201;
        exchange.set.headers["location"] = `${path}/${made.provider}`;
        return made;
      },
      {
        parse: "none",
        body: documented(newProviderSchema),
        response: {
          201: documentedHeaders(providerSetupWithSecretSchema, locationHeader),
          ...problemResponses(401, 403, 413, 415, 422, 429),
        },
        detail: operation(
          "addProvider",
          "Add a provider",
          "Writes a provider file into PROVIDERS_DIR and the secret into SECRETS_DIR, and loads both. If anything is wrong, nothing changes.",
        ),
      },
    )
    .get(
      "/:id",
      async (exchange) => onboarding.read(await authenticated(exchange), exchange.params.id),
      {
        params: providerParams,
        response: { 200: providerSetupSchema, ...problemResponses(401, 403, 404) },
        detail: operation("getProvider", "Read how a provider is connected"),
      },
    )
    .put(
      "/:id/secret",
      async (exchange) => {
        const ctx = await adminOf(exchange);
        const body = await readJson(exchange.request, addressOf(exchange));
        return onboarding.setSecret(ctx, exchange.params.id, body);
      },
      {
        parse: "none",
        params: providerParams,
        body: documented(newSecretSchema),
        response: {
          200: providerSetupWithSecretSchema,
          ...problemResponses(401, 403, 404, 413, 415, 422, 429),
        },
        detail: operation(
          "setProviderSecret",
          "Store a provider's webhook secret",
          "In SECRETS_DIR, and loads it. Of the secrets stored before, the one that verified a delivery last stays accepted.",
        ),
      },
    )
    .post(
      "/:id/test",
      async (exchange) => {
        const ctx = await adminOf(exchange);
        const address = addressOf(exchange);
        const body = await readJson(exchange.request, address);
        const { origin } = new URL(exchange.request.url);
        return onboarding.test(ctx, exchange.params.id, body, { origin, address });
      },
      {
        parse: "none",
        params: providerParams,
        body: documented(testEventSchema),
        response: {
          200: acknowledgementSchema,
          ...problemResponses(401, 403, 404, 413, 415, 422, 429),
        },
        detail: operation(
          "testProvider",
          "Send a signed test event",
          "Signs a sample as the service would and receives it, so that it appears among the events. At most 20 tests per minute and caller, those of destinations included.",
        ),
      },
    );
};
