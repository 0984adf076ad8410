import { Elysia } from "elysia";

import { choice, choices } from "../../base/parameters.ts";
import { type Authenticated, operations } from "../../web/rest/auth.ts";
import type { AddressOf } from "../../web/rest/client-address.ts";
import { documentedHeaders, linkHeaders, madeHeaders } from "../../web/rest/documented-headers.ts";
import { idempotencyHeaders } from "../../web/rest/idempotency-key.ts";
import { readJson } from "../../web/rest/json-body.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { serveCreation, servePage } from "../../web/rest/serve.ts";
import { urlOf } from "../../web/rest/url.ts";
import { documented } from "../../web/schema.ts";
import { destinationSchema } from "../destination.ts";
import { notificationStatuses } from "../notification-words.ts";

import {
  deliveryListQuery,
  deliveryPageSchema,
  retriedSchema,
  testResultSchema,
} from "./delivery.schema.ts";
import type { DestinationDeliveries } from "./destination-deliveries.ts";
import {
  destinationListQuery,
  destinationQuery,
  listedDestinationPageSchema,
  listedDestinationSchema,
} from "./destination-health.schema.ts";
import type { DestinationHealthReader } from "./destination-health.ts";
import { destinationChangesSchema, destinationInputSchema } from "./destination-input.ts";
import { destinationParams, destinationWithSecretSchema } from "./destination.schema.ts";
import type { Destinations } from "./destinations.ts";
import {
  filterPreviewInputSchema,
  filterPreviewSchema,
  type PreviewFilter,
} from "./filter-preview.ts";

const path = "/v1/destinations";

const operation = operations("Destinations");

interface Services {
  readonly destinations: Destinations;
  readonly destinationDeliveries: DestinationDeliveries;
  readonly destinationHealth: DestinationHealthReader;
  readonly previewFilter: PreviewFilter;
}

/** Destinations: admins manage all, users those for bookings of their own. Operators may read. */
export const destinationsRest = (
  { destinations, destinationDeliveries: deliveries, destinationHealth, previewFilter }: Services,
  authenticated: Authenticated,
  addressOf: AddressOf,
) => {
  const one = {
    params: destinationParams,
    response: { 200: destinationSchema, ...problemResponses(401, 403, 404, 422, 429) },
  };
  return new Elysia({ name: "destinations", prefix: path })
    .post(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return serveCreation(
          exchange,
          addressOf(exchange),
          (body, key) => destinations.create(ctx, body, key),
          ({ id }) => `${path}/${id}`,
        );
      },
      {
        parse: "none",
        body: documented(destinationInputSchema),
        headers: idempotencyHeaders,
        response: {
          201: documentedHeaders(destinationWithSecretSchema, madeHeaders),
          ...problemResponses(401, 413, 415, 422, 429),
        },
        detail: operation(
          "createDestination",
          "Create a destination",
          "Made by an admin, it receives all events that match. Made by a user, it receives the events of the user's bookings. The secret is shown only here.",
        ),
      },
    )
    .get(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return servePage(
          exchange,
          "dst_",
          async (request, query, included) => {
            const filters = { owner: choice(query, "owner", ["operators"]) };
            const page = await destinations.list(ctx, request, filters);
            return included.includes("health") ? destinationHealth.inPage(page) : page;
          },
          ["health"],
        );
      },
      {
        query: destinationListQuery,
        response: {
          200: documentedHeaders(listedDestinationPageSchema, linkHeaders),
          ...problemResponses(401, 403),
        },
        detail: operation(
          "listDestinations",
          "List destinations",
          "Newest first. Admins see all, operators those of the operators, users their own.",
        ),
      },
    )
    .post(
      "/preview",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return previewFilter(ctx, await readJson(exchange.request, addressOf(exchange)));
      },
      {
        parse: "none",
        body: documented(filterPreviewInputSchema),
        response: { 200: filterPreviewSchema, ...problemResponses(401, 403, 413, 415, 422) },
        detail: operation(
          "previewFilter",
          "Try a filter",
          "Says for the newest 50 notifications whether the filter delivers them, and why not. Needs the role operator or admin.",
        ),
      },
    )
    .get(
      "/:id",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const included = choices(urlOf(exchange.request).searchParams, "include", ["health"]);
        const destination = await destinations.read(ctx, exchange.params.id);
        if (included.length === 0) return destination;
        const healthOf = await destinationHealth.of([destination]);
        return { ...destination, health: healthOf(destination) };
      },
      {
        params: destinationParams,
        query: destinationQuery,
        response: { 200: listedDestinationSchema, ...problemResponses(401, 404) },
        detail: operation("getDestination", "Read a destination"),
      },
    )
    .patch(
      "/:id",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const body = await readJson(exchange.request, addressOf(exchange));
        return destinations.update(ctx, exchange.params.id, body);
      },
      {
        ...one,
        parse: "none",
        body: documented(destinationChangesSchema),
        response: {
          200: destinationSchema,
          ...problemResponses(401, 403, 404, 413, 415, 422, 429),
        },
        detail: operation(
          "updateDestination",
          "Change a destination",
          "Changes the given fields, `state` included. Without a difference, nothing is stored.",
        ),
      },
    )
    .delete(
      "/:id",
      async (exchange) => destinations.remove(await authenticated(exchange), exchange.params.id),
      {
        parse: "none",
        params: destinationParams,
        response: { 200: destinationSchema, ...problemResponses(401, 403, 404, 422, 429) },
        detail: operation(
          "removeDestination",
          "Remove a destination",
          "Also removes its deliveries, including those that were not sent.",
        ),
      },
    )
    .post(
      "/:id/pause",
      async (exchange) =>
        destinations.setState(await authenticated(exchange), exchange.params.id, "paused"),
      {
        ...one,
        parse: "none",
        detail: operation("pauseDestination", "Pause a destination", "Deliveries are kept."),
      },
    )
    .post(
      "/:id/resume",
      async (exchange) =>
        destinations.setState(await authenticated(exchange), exchange.params.id, "active"),
      {
        ...one,
        parse: "none",
        detail: operation("resumeDestination", "Resume a destination", "Kept deliveries are sent."),
      },
    )
    .post(
      "/:id/disable",
      async (exchange) =>
        destinations.setState(await authenticated(exchange), exchange.params.id, "disabled"),
      {
        ...one,
        parse: "none",
        detail: operation(
          "disableDestination",
          "Disable a destination",
          "No deliveries are stored until it is resumed.",
        ),
      },
    )
    .post(
      "/:id/rotate",
      async (exchange) => destinations.rotate(await authenticated(exchange), exchange.params.id),
      {
        parse: "none",
        params: destinationParams,
        response: {
          200: destinationWithSecretSchema,
          ...problemResponses(401, 403, 404, 422, 429),
        },
        detail: operation(
          "rotateDestinationSecret",
          "Make a new secret",
          "The previous secret also signs for 24 hours.",
        ),
      },
    )
    .post(
      "/:id/test",
      async (exchange) => deliveries.test(await authenticated(exchange), exchange.params.id),
      {
        parse: "none",
        params: destinationParams,
        response: { 200: testResultSchema, ...problemResponses(401, 403, 404, 429) },
        detail: operation(
          "testDestination",
          "Send a test notification",
          "At most 20 tests per minute and caller, those of providers included.",
        ),
      },
    )
    .get(
      "/:id/deliveries",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return servePage(
          exchange,
          "dlv_",
          (page, query, included) => {
            const filters = { status: choice(query, "status", notificationStatuses) };
            const extras = { attempts: included.includes("attempts") };
            return deliveries.list(ctx, exchange.params.id, page, filters, extras);
          },
          ["attempts"],
        );
      },
      {
        params: destinationParams,
        query: deliveryListQuery,
        response: {
          200: documentedHeaders(deliveryPageSchema, linkHeaders),
          ...problemResponses(401, 404),
        },
        detail: operation(
          "listDeliveries",
          "List the deliveries of a destination",
          "Newest first.",
        ),
      },
    )
    .post(
      "/:id/retry",
      async (exchange) => deliveries.retryDead(await authenticated(exchange), exchange.params.id),
      {
        parse: "none",
        params: destinationParams,
        response: { 200: retriedSchema, ...problemResponses(401, 403, 404, 429) },
        detail: operation("retryDeliveries", "Send all dead deliveries again"),
      },
    );
};
