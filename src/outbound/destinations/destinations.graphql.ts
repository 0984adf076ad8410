import { decodeCursor } from "../../base/cursor.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { nullWhere } from "../../web/graphql/errors.ts";
import { idempotencyKeyArg, idempotencyKeyOf } from "../../web/graphql/idempotency-key.ts";
import { loader } from "../../web/graphql/loaders.ts";
import { type Destination, destinationStates, formatNames } from "../destination.ts";

import type { DestinationDeliveries, TestResult } from "./destination-deliveries.ts";
import { healthType } from "./destination-health.graphql.ts";
import type { DestinationHealthReader } from "./destination-health.ts";
import type { Destinations, DestinationWithSecret } from "./destinations.ts";

interface Services {
  readonly destinations: Destinations;
  readonly destinationDeliveries: DestinationDeliveries;
  readonly destinationHealth: DestinationHealthReader;
}

/** Destinations. Admins manage all, users those for bookings of their own. */
export function destinationsGraphql(
  builder: Builder,
  { destinations, destinationDeliveries: deliveries, destinationHealth }: Services,
): void {
  const HealthType = healthType(builder);
  const loadHealth = loader((_, keys: readonly Destination[]) => destinationHealth.of(keys));
  const DestinationType = builder.objectRef<Destination>("Destination");
  const Format = builder.enumType("DestinationFormat", {
    description: "What a destination receives.",
    values: formatNames,
  });
  const State = builder.enumType("DestinationState", {
    description: "`paused`: deliveries wait. `disabled`: none are stored.",
    values: destinationStates,
  });

  builder.objectType(DestinationType, {
    description: "Where notifications are sent, which ones, and how fast.",
    fields: (t) => ({
      destinationId: t.exposeID("id", { description: "Id of the destination in REST." }),
      name: t.exposeString("name", { description: "Unique among the destinations of its owner." }),
      ownerId: t.exposeString("ownerId", {
        nullable: true,
        description: "The user whose booking events it receives; null for the operators'.",
      }),
      format: t.expose("format", { type: Format, description: "Format of its messages." }),
      address: t.exposeString("address", { description: "Without its secret parts." }),
      filter: t.exposeString("filter", {
        nullable: true,
        description: "The expression (CEL) that an event must match.",
      }),
      orderBy: t.exposeString("orderBy", {
        nullable: true,
        description: "The field by which deliveries keep their order.",
      }),
      ratePerSecond: t.exposeInt("ratePerSecond", {
        nullable: true,
        description: "Deliveries per second; null for no limit.",
      }),
      maxConcurrent: t.exposeInt("maxConcurrent", {
        description: "Deliveries at the same time, per process.",
      }),
      alerts: t.exposeBoolean("alerts", {
        description: "Whether it receives alerts about this service itself.",
      }),
      state: t.expose("state", {
        type: State,
        description: "Whether deliveries are sent, kept, or not stored.",
      }),
      failures: t.exposeInt("failures", { description: "Failed attempts since the last success." }),
      openUntil: t.expose("openUntil", {
        type: "DateTime",
        nullable: true,
        description:
          "Set after ten failures in a row: until then nothing is sent, then one probe at a time.",
      }),
      health: t.field({
        type: HealthType,
        description: "Its health.",
        resolve: (destination, _, ctx) => loadHealth(ctx, destination),
      }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "Time of creation." }),
      updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
    }),
  });
  const WithSecret = builder.objectRef<DestinationWithSecret>("DestinationWithSecret").implement({
    description: "A destination and its secret, which is shown only here.",
    fields: (t) => ({
      destination: t.field({
        type: DestinationType,
        description: "The destination.",
        resolve: (destination) => destination,
      }),
      secret: t.exposeString("secret", {
        nullable: true,
        description:
          "The signing secret; null if the format has none, and for a retry with the same idempotency key.",
      }),
    }),
  });
  const Test = builder.objectRef<TestResult>("DestinationTest").implement({
    description: "The answer to a test notification.",
    fields: (t) => ({
      delivered: t.exposeBoolean("delivered", { description: "Whether it was accepted." }),
      responseStatus: t.exposeInt("responseStatus", {
        nullable: true,
        description: "The HTTP status; null if there was no answer.",
      }),
      error: t.exposeString("error", { nullable: true, description: "What went wrong." }),
      durationMs: t.exposeInt("durationMs", { description: "Duration in milliseconds." }),
    }),
  });

  builder.queryFields((t) => ({
    destination: t.field({
      type: DestinationType,
      nullable: true,
      description: "The destination with an id; null if it does not exist or is not yours.",
      args: { destinationId: t.arg.id({ required: true, description: "Id of the destination." }) },
      resolve: (_, { destinationId }, { signedIn }) =>
        nullWhere("not-found", destinations.read(signedIn(), destinationId)),
    }),
    destinations: t.connection(
      {
        type: DestinationType,
        description: "All destinations for admins, otherwise your own; newest first.",
        resolve: (_, args, { signedIn }) => {
          const ctx = signedIn();
          return connectionOf(
            args,
            (cursor) => decodeCursor(cursor, "dst_"),
            (request) => destinations.list(ctx, request),
          );
        },
      },
      { name: "DestinationConnection", description: "A page of destinations." },
      { name: "DestinationEdge", description: "A destination in a list." },
    ),
  }));

  const CreateDestinationInput = builder.inputType("CreateDestinationInput", {
    description: "A new destination. The same as the body of POST /v1/destinations.",
    fields: (t) => ({
      name: t.string({ required: true, description: "Unique among your destinations." }),
      format: t.field({ type: Format, required: true, description: "Format of its messages." }),
      url: t.string({ required: true, description: "Address to send to." }),
      filter: t.string({ description: "An expression (CEL) that an event must match." }),
      orderBy: t.string({ description: "For example event.subject." }),
      ratePerSecond: t.int({ description: "1 to 1000." }),
      maxConcurrent: t.int({ description: "1 to 64." }),
      alerts: t.boolean({ description: "Whether it receives alerts about this service itself." }),
      secret: t.string({ description: "For pagerduty: the routing key." }),
    }),
  });
  const idArg = { required: true, description: "Id of the destination." } as const;

  builder.mutationFields((t) => ({
    createDestination: t.field({
      type: WithSecret,
      description: "Creates a destination.",
      args: {
        input: t.arg({
          type: CreateDestinationInput,
          required: true,
          description: "The destination to create.",
        }),
        idempotencyKey: t.arg.string(idempotencyKeyArg),
      },
      async resolve(_, { input, idempotencyKey }, { signedIn }) {
        const ctx = signedIn();
        const key = idempotencyKeyOf(idempotencyKey);
        const given = Object.entries(input).filter(([, value]) => value !== null);
        return (await destinations.create(ctx, Object.fromEntries(given), key)).made;
      },
    }),
    setDestinationState: t.field({
      type: DestinationType,
      description: "Pauses, resumes or disables a destination.",
      args: {
        destinationId: t.arg.id(idArg),
        state: t.arg({ type: State, required: true, description: "The new state." }),
      },
      resolve: (_, { destinationId, state }, { signedIn }) =>
        destinations.setState(signedIn(), destinationId, state),
    }),
    rotateDestinationSecret: t.field({
      type: WithSecret,
      description: "Makes a new secret. The previous one also signs for 24 hours.",
      args: { destinationId: t.arg.id(idArg) },
      resolve: (_, { destinationId }, { signedIn }) =>
        destinations.rotate(signedIn(), destinationId),
    }),
    testDestination: t.field({
      type: Test,
      description: "Sends a test notification.",
      args: { destinationId: t.arg.id(idArg) },
      resolve: (_, { destinationId }, { signedIn }) => deliveries.test(signedIn(), destinationId),
    }),
    retryDestination: t.field({
      type: "Int",
      description: "Sends all dead deliveries again. Returns how many.",
      args: { destinationId: t.arg.id(idArg) },
      resolve: async (_, { destinationId }, { signedIn }) =>
        (await deliveries.retryDead(signedIn(), destinationId)).retried,
    }),
    removeDestination: t.field({
      type: DestinationType,
      description: "Removes a destination and its deliveries.",
      args: { destinationId: t.arg.id(idArg) },
      resolve: (_, { destinationId }, { signedIn }) =>
        destinations.remove(signedIn(), destinationId),
    }),
  }));
}
