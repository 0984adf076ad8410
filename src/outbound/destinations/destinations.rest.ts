import { Elysia } from "elysia";

import { choices } from "../../base/parameters.ts";
import { type Callers, routes } from "../../web/rest/route.ts";
import { destinationSchema } from "../model/destination.ts";

import type { DestinationDeliveries } from "./destination-deliveries.ts";
import { deliveryFilters, destinationFilters } from "./destination-filters.ts";
import type { WithHealth } from "./destination-health.ts";
import { destinationChangesSchema, destinationInputSchema } from "./destination-input.ts";
import {
  deliveryPageSchema,
  destinationParams,
  destinationQuery,
  destinationWithSecretSchema,
  listedDestinationPageSchema,
  listedDestinationSchema,
  retriedSchema,
  testResultSchema,
} from "./destination.schema.ts";
import type { Destinations } from "./destinations.ts";
import {
  filterPreviewInputSchema,
  filterPreviewSchema,
  type PreviewFilter,
} from "./filter-preview.ts";

const path = "/v1/destinations";

interface Services {
  readonly destinations: Destinations;
  readonly destinationDeliveries: DestinationDeliveries;
  readonly withHealth: WithHealth;
  readonly previewFilter: PreviewFilter;
}

/** Destinations: admins manage all, users those for bookings of their own. Operators may read. */
export const destinationsRest = (
  { destinations, destinationDeliveries: deliveries, withHealth, previewFilter }: Services,
  callers: Callers,
) => {
  const { route, list, creation } = routes(callers, "Destinations");
  const changed = {
    params: destinationParams,
    response: destinationSchema,
    problems: [403, 404, 422],
  } as const;
  return new Elysia({ name: "destinations", prefix: path })
    .post(
      "",
      ...creation("createDestination", "Create a destination", {
        description:
          "Made by an admin, it receives all events that match. Made by a user, it receives the events of the user's bookings. The secret is shown only here.",
        body: destinationInputSchema,
        response: destinationWithSecretSchema,
        location: ({ id }) => `${path}/${id}`,
        serve: ({ ctx, body, key }) => destinations.create(ctx, body, key),
      }),
    )
    .get(
      "",
      ...list("listDestinations", "List destinations", {
        description:
          "Newest first. Admins see all, operators those of the operators, users their own.",
        ids: "dst_",
        filters: destinationFilters,
        include: {
          words: ["health"],
          description:
            "`health` adds how each destination is doing, `total` the number of destinations; or both.",
          examples: ["health", "total,health"],
        },
        response: listedDestinationPageSchema,
        problems: [403],
        serve: async ({ ctx, page: request, filters, included }) => {
          const page = await destinations.list(ctx, request, filters);
          return included.includes("health")
            ? { ...page, data: await withHealth(page.data) }
            : page;
        },
      }),
    )
    .post(
      "/preview",
      ...route("previewFilter", "Try a filter", {
        costly: true,
        description:
          "Says for the newest 50 notifications whether the filter delivers them, and why not. Needs the role operator or admin.",
        body: filterPreviewInputSchema,
        response: filterPreviewSchema,
        problems: [403],
        serve: ({ ctx, body }) => previewFilter(ctx, body),
      }),
    )
    .get(
      "/:id",
      ...route("getDestination", "Read a destination", {
        params: destinationParams,
        query: destinationQuery,
        response: listedDestinationSchema,
        problems: [404],
        serve: async ({ ctx, params, query }) => {
          const included = choices(query, "include", ["health"]);
          const destination = await destinations.read(ctx, params.id);
          const [read = destination] = included.length === 0 ? [] : await withHealth([destination]);
          return read;
        },
      }),
    )
    .patch(
      "/:id",
      ...route("updateDestination", "Change a destination", {
        ...changed,
        description:
          "Changes the given fields, `state` included. Without a difference, nothing is stored.",
        body: destinationChangesSchema,
        serve: ({ ctx, params, body }) => destinations.update(ctx, params.id, body),
      }),
    )
    .delete(
      "/:id",
      ...route("removeDestination", "Remove a destination", {
        ...changed,
        description: "Also removes its deliveries, including those that were not sent.",
        serve: ({ ctx, params }) => destinations.remove(ctx, params.id),
      }),
    )
    .post(
      "/:id/pause",
      ...route("pauseDestination", "Pause a destination", {
        ...changed,
        description: "Deliveries are kept.",
        serve: ({ ctx, params }) => destinations.setState(ctx, params.id, "paused"),
      }),
    )
    .post(
      "/:id/resume",
      ...route("resumeDestination", "Resume a destination", {
        ...changed,
        description: "Kept deliveries are sent.",
        serve: ({ ctx, params }) => destinations.setState(ctx, params.id, "active"),
      }),
    )
    .post(
      "/:id/disable",
      ...route("disableDestination", "Disable a destination", {
        ...changed,
        description: "No deliveries are stored until it is resumed.",
        serve: ({ ctx, params }) => destinations.setState(ctx, params.id, "disabled"),
      }),
    )
    .post(
      "/:id/rotate",
      ...route("rotateDestinationSecret", "Make a new secret", {
        ...changed,
        description: "The previous secret also signs for 24 hours.",
        response: destinationWithSecretSchema,
        serve: ({ ctx, params }) => destinations.rotate(ctx, params.id),
      }),
    )
    .post(
      "/:id/test",
      ...route("testDestination", "Send a test notification", {
        description: "At most 20 tests per minute and caller, those of providers included.",
        params: destinationParams,
        response: testResultSchema,
        problems: [403, 404],
        serve: ({ ctx, params }) => deliveries.test(ctx, params.id),
      }),
    )
    .get(
      "/:id/deliveries",
      ...list("listDeliveries", "List the deliveries of a destination", {
        description: "Newest first.",
        ids: "dlv_",
        params: destinationParams,
        filters: deliveryFilters,
        include: {
          words: ["attempts"],
          description:
            "`attempts` adds the attempts of each delivery, `total` the number of deliveries; or both.",
          examples: ["attempts", "total,attempts"],
        },
        response: deliveryPageSchema,
        problems: [404],
        serve: ({ ctx, params, page, filters, included }) => {
          const extras = { attempts: included.includes("attempts") };
          return deliveries.list(ctx, params.id, page, filters, extras);
        },
      }),
    )
    .post(
      "/:id/retry",
      ...route("retryDeliveries", "Send all dead deliveries again", {
        params: destinationParams,
        response: retriedSchema,
        problems: [403, 404],
        serve: ({ ctx, params }) => deliveries.retryDead(ctx, params.id),
      }),
    );
};
