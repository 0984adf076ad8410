import type { Clock } from "../../base/clock.ts";
import { decodeNumberCursor } from "../../base/cursor.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { nullWhere } from "../../web/graphql/errors.ts";
import { enumOf, fieldsExcept, fieldsOf, objectOf } from "../../web/graphql/from-schema.ts";
import { loader, one } from "../../web/graphql/loaders.ts";
import { type Flight, flightSchema, type FlightView, moneySchema } from "../flight.ts";

import { flightSearchResultSchema } from "./flight.schema.ts";
import type { Flights } from "./flights.ts";
import type { Seats, SeatsChange } from "./seats.ts";

interface FlightServices {
  readonly flights: Flights;
  readonly seats: Seats;
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
      ...fieldsOf(t, flightSchema, fieldsExcept(flightSchema, "id"), {
        cabinClass: CabinClass,
        price: PriceType,
      }),
    }),
  });

  const SearchResultType = objectOf(builder, flightSearchResultSchema, { flights: [FlightType] });

  builder.queryFields((t) => ({
    flight: t.field({
      type: FlightType,
      nullable: true,
      description: "The flight with an id; null if it does not exist.",
      args: { flightId: t.arg.int({ required: true, description: "Id of the flight." }) },
      resolve: (_, { flightId: id }) => nullWhere("flight-not-found", flights.read(id)),
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
    searchFlights: t.field({
      type: SearchResultType,
      description: "Flights on one day that can be booked and have enough free seats.",
      args: {
        origin: t.arg.string({ required: true, description: "IATA code of the airport." }),
        destination: t.arg.string({ required: true, description: "IATA code of the airport." }),
        departureDate: t.arg({
          type: "Date",
          required: true,
          description: "Date at the origin.",
        }),
        passengers: t.arg.int({ defaultValue: 1, description: "Number of seats, 1 to 9." }),
        cabinClass: t.arg({ type: CabinClass, description: "Cabin class; any by default." }),
        page: t.arg.int({ defaultValue: 1, description: "Page number, from 1." }),
        limit: t.arg.int({
          defaultValue: 20,
          description: "Flights per page. The maximum is 100.",
        }),
      },
      resolve: (_, args) => flights.search({ ...omitted, ...args }),
    }),
  }));

  const SeatsChangeType = builder.objectRef<SeatsChange>("SeatsChange").implement({
    description: "A change in the number of free seats of a flight.",
    fields: (t) => ({
      flightId: t.exposeInt("flightId", { description: "Id of the flight." }),
      seatsAvailable: t.exposeInt("seatsAvailable", { description: "Number of free seats." }),
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
      resolve: (change) => change,
    }),
  );

  return { FlightType };
}

/** Values of omitted arguments. */
const omitted = { cabinClass: null, passengers: null, page: null, limit: null };

/** The flight id in a global id; 0, which no flight has, if it is not a number. */
function flightId(id: string): number {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
}

/** Used in the types of other features. */
export type FlightTypes = ReturnType<typeof flightsGraphql>;
