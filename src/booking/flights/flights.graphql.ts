import type { Clock } from "../../base/clock.ts";
import { decodeNumberCursor } from "../../base/cursor.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { enumOf, fieldsExcept, fieldsOf, objectOf } from "../../web/graphql/from-schema.ts";
import { loader, one } from "../../web/graphql/loaders.ts";
import { moneySchema } from "../../web/schema.ts";
import { type Flight, flightSchema, type FlightView } from "../model/flight.ts";

import type { Flights } from "./flights.ts";
import type { FreeSeats } from "./free-seats.ts";

interface FlightServices {
  readonly flights: Flights;
  readonly seats: FreeSeats;
  readonly clock: Clock;
}

/** Flights. Public, except for the subscription. */
export function flightsGraphql(builder: Builder, { flights, seats, clock }: FlightServices) {
  const loadFlight = loader(async (_ctx, ids: readonly Flight["id"][]) =>
    one(await flights.find(ids), ({ id }) => id),
  );
  const FlightType = builder.objectRef<FlightView>("Flight");
  const CabinClass = enumOf(builder, "CabinClass", flightSchema, "cabinClass");
  const PriceType = objectOf(builder, moneySchema, {}, "Price");

  builder.node(FlightType, {
    description: "One cabin class of one departure.",
    id: { resolve: ({ id }) => id, parse: flightId },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadFlight(ctx, id))),
    fields: (t) => ({
      flightId: t.exposeInt("id", { description: "Id of the flight in REST." }),
      ...fieldsOf(t, flightSchema, fieldsExcept(flightSchema, "id", "cancelledAt"), {
        cabinClass: CabinClass,
        price: PriceType,
      }),
      cancelledAt: t.field({
        type: "DateTime",
        nullable: true,
        description: "When the airline cancelled the flight; null if it is not cancelled.",
        resolve: ({ cancelledAt }) => cancelledAt ?? null,
      }),
    }),
  });

  builder.queryFields((t) => ({
    flight: t.field({
      type: FlightType,
      nullable: true,
      description: "The flight with an id; null if it does not exist.",
      args: { flightId: t.arg.int({ required: true, description: "Id of the flight." }) },
      resolve: (_, { flightId: id }, ctx) => loadFlight(ctx, id),
    }),
    flights: t.connection(
      {
        type: FlightType,
        description: "All flights, departed ones included. The most recently added come first.",
        resolve: (_, args) =>
          connectionOf(args, decodeNumberCursor, (request) => flights.list(request)),
      },
      { name: "FlightConnection", description: "A page of flights." },
      { name: "FlightEdge", description: "A flight in a list." },
    ),
  }));

  const SeatsChangeType = builder.objectRef<FlightView>("SeatsChange").implement({
    description: "A change in the number of free seats of a flight.",
    fields: (t) => ({
      flightId: t.exposeInt("id", { description: "Id of the flight." }),
      seatsAvailable: t.exposeInt("seatsAvailable", { description: "Number of free seats." }),
      flight: t.field({
        type: FlightType,
        description: "The flight, so that clients with a cache see its free seats.",
        resolve: (flight) => flight,
      }),
    }),
  });

  builder.subscriptionField("seatsChanged", (t) =>
    t.field({
      type: SeatsChangeType,
      description:
        "Each change in the number of free seats of a flight, until the token expires. Changes in quick succession are sent as one.",
      args: { flightId: t.arg.int({ required: true, description: "Id of the flight." }) },
      async subscribe(_, { flightId: id }, { signedIn }) {
        const ctx = signedIn();
        await flights.read(id);
        return whileSignedIn(ctx, clock, (signal) => seats.follow(id, signal));
      },
      resolve: (flight) => flight,
    }),
  );

  return { FlightType, CabinClass, PriceType };
}

/** The flight id in a global id; 0, which no flight has, if it is not a number. */
function flightId(id: string): number {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
}

/** Used in the types of other features. */
export type FlightTypes = ReturnType<typeof flightsGraphql>;
