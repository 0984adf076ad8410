import { decodeCursor } from "../../base/cursor.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { nullWhere } from "../../web/graphql/errors.ts";
import {
  enumOf,
  fieldsExcept,
  fieldsOf,
  inputOf,
  objectOf,
} from "../../web/graphql/from-schema.ts";
import { idempotencyKeyArg, idempotencyKeyOf } from "../../web/graphql/idempotency-key.ts";
import { loader } from "../../web/graphql/loaders.ts";
import type { InputField } from "../../web/input.ts";
import { destinationFields } from "../destination-fields.ts";
import { type Destination, destinationSchema } from "../destination.ts";

import type { DestinationDeliveries } from "./destination-deliveries.ts";
import type { DestinationHealthReader } from "./destination-health.ts";
import { destinationChangesSchema, destinationInputSchema } from "./destination-input.ts";
import {
  type DestinationWithSecret,
  destinationWithSecretSchema,
  healthSchema,
  testResultSchema,
} from "./destination.schema.ts";
import type { Destinations } from "./destinations.ts";

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
  const HealthType = objectOf(builder, healthSchema, {
    circuit: enumOf(builder, "DestinationCircuit", healthSchema, "circuit"),
  });
  const loadHealth = loader((_, keys: readonly Destination[]) => destinationHealth.of(keys));
  const DestinationType = builder.objectRef<Destination>("Destination");
  const Format = enumOf(builder, "DestinationFormat", destinationSchema, "format");
  const State = enumOf(builder, "DestinationState", destinationSchema, "state");
  const Transport = enumOf(builder, "DestinationTransport", destinationSchema, "transport");

  builder.node(DestinationType, {
    description: "Where notifications are sent, which ones, and how fast.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, { signedIn }) =>
      Promise.all(ids.map((id) => nullWhere("not-found", destinations.read(signedIn(), id)))),
    fields: (t) => ({
      destinationId: t.exposeID("id", { description: "Id of the destination in REST." }),
      ...fieldsOf(t, destinationSchema, fieldsExcept(destinationSchema, "id"), {
        format: Format,
        state: State,
        transport: Transport,
      }),
      health: t.field({
        type: HealthType,
        description: "Its health.",
        resolve: (destination, _, ctx) => loadHealth(ctx, destination),
      }),
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
      ...fieldsOf(t, destinationWithSecretSchema, ["secret"]),
    }),
  });
  const Test = objectOf(builder, testResultSchema);

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

  const CreateDestinationInput = inputOf(
    builder,
    "CreateDestinationInput",
    destinationInputSchema,
    { format: Format, transport: Transport },
  );
  const DestinationChanges = inputOf(builder, "DestinationChanges", destinationChangesSchema, {
    format: Format,
    state: State,
    transport: Transport,
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
        return (await destinations.create(ctx, givenOf(input), key)).made;
      },
    }),
    updateDestination: t.field({
      type: DestinationType,
      description: "Changes the given fields. Null removes a value that can be removed.",
      args: {
        destinationId: t.arg.id(idArg),
        changes: t.arg({
          type: DestinationChanges,
          required: true,
          description: "The fields to change.",
        }),
      },
      resolve: (_, { destinationId, changes }, { signedIn }) =>
        destinations.update(signedIn(), destinationId, givenOf(changes)),
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

/** REST has null only for fields without a value; in GraphQL, null for any other field means that it is absent. */
function givenOf(input: object): object {
  const given = Object.entries(input).filter(
    ([name, value]) => value !== null || nullable.includes(name),
  );
  return Object.fromEntries(given);
}

const nullable = Object.entries<InputField>(destinationFields).flatMap(([name, { isNullable }]) =>
  isNullable === true ? [name] : [],
);
