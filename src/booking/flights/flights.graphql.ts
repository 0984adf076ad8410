import type { Clock } from "../../base/clock.ts";
import { decodeNumberCursor } from "../../base/cursor.ts";
import type { Money } from "../../base/money.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { nullWhere } from "../../web/graphql/errors.ts";
import { loader, one } from "../../web/graphql/loaders.ts";

import { cabinClasses, type Flight, type FlightView } from "../flight.ts";

import type { Flights, FlightSearchResult } from "./flights.ts";
import type { Seats, SeatsChange } from "./seats.ts";

interface FlightServices {
  readonly flights: Flights;
  readonly seats: Seats;
  readonly clock: Clock;
}

/** Flights: public, but for following their seats. */
export function flightsGraphql(builder: Builder, { flights, seats, clock }: FlightServices) {
  const loadFlight = loader(async (_ctx, ids: readonly Flight["id"][]) =>
    one(await flights.find(ids), ({ id }) => id),
  );
  const FlightType = builder.objectRef<FlightView>("Flight");
  const CabinClass = builder.enumType("CabinClass", {
    description: "The cabins that are sold.",
    values: cabinClasses,
  });

  const PriceType = builder.objectRef<Money>("Price").implement({
    description: "What one seat costs.",
    fields: (t) => ({
      amount: t.expose("amount", { type: "Money", description: "In major units of `currency`." }),
      currency: t.exposeString("currency", { description: "ISO 4217 code, as USD." }),
    }),
  });

  builder.node(FlightType, {
    description: "One bookable cabin of one departure.",
    id: { resolve: ({ id }) => id, parse: flightId },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadFlight(ctx, id))),
    fields: (t) => ({
      flightId: t.exposeInt("id", { description: "The flight's number in this service." }),
      flightNumber: t.exposeString("flightNumber", {
        description: "Airline code and number, as BA117.",
      }),
      airline: t.exposeString("airline", { description: "The airline's name." }),
      origin: t.exposeString("origin", { description: "IATA code of the airport." }),
      destination: t.exposeString("destination", { description: "IATA code of the airport." }),
      departureTime: t.expose("departureTime", { type: "DateTime", description: "In UTC." }),
      arrivalTime: t.expose("arrivalTime", { type: "DateTime", description: "In UTC." }),
      departureLocal: t.exposeString("departureLocal", {
        description: "Wall clock at the origin with its offset, as 2026-12-01T18:25:00-05:00.",
      }),
      arrivalLocal: t.exposeString("arrivalLocal", {
        description: "Wall clock at the destination with its offset.",
      }),
      duration: t.exposeString("duration", { description: "Hours and minutes, as 7h 05m." }),
      durationMinutes: t.exposeInt("durationMinutes", { description: "The same in minutes." }),
      cabinClass: t.expose("cabinClass", { type: CabinClass, description: "The cabin." }),
      price: t.expose("price", { type: PriceType, description: "Price of one seat." }),
      seatsAvailable: t.exposeInt("seatsAvailable", { description: "Seats left to sell." }),
      createdAt: t.expose("createdAt", {
        type: "DateTime",
        description: "When it came into this service.",
      }),
    }),
  });

  const SearchResultType = builder.objectRef<FlightSearchResult>("FlightSearchResult").implement({
    description: "One page of what a search found.",
    fields: (t) => ({
      flights: t.expose("flights", {
        type: [FlightType],
        description: "Soonest departure first, then by flightId.",
      }),
      totalResults: t.exposeInt("totalResults", {
        description: "How many there are on all pages.",
      }),
      page: t.exposeInt("page", { description: "The page's number, from 1." }),
      pageSize: t.exposeInt("pageSize", { description: "The most flights that a page has." }),
    }),
  });

  builder.queryFields((t) => ({
    flight: t.field({
      type: FlightType,
      nullable: true,
      description: "A flight; null where there is none of this number.",
      args: { flightId: t.arg.int({ required: true, description: "The flight's number." }) },
      resolve: (_, { flightId: id }) => nullWhere("flight-not-found", flights.read(id)),
    }),
    flights: t.connection(
      {
        type: FlightType,
        description: "All flights, the newest in this service first; departed ones too.",
        resolve: (_, args) =>
          connectionOf(args, decodeNumberCursor, (request) => flights.list(request)),
      },
      { name: "FlightConnection", description: "A page of flights." },
      { name: "FlightEdge", description: "A flight in a list." },
    ),
    searchFlights: t.field({
      type: SearchResultType,
      description: "Flights of one day that can be booked now and have seats enough.",
      args: {
        origin: t.arg.string({ required: true, description: "IATA code of the airport." }),
        destination: t.arg.string({ required: true, description: "IATA code of the airport." }),
        departureDate: t.arg({
          type: "Date",
          required: true,
          description: "The calendar day at the origin.",
        }),
        passengers: t.arg.int({ defaultValue: 1, description: "Seats needed: 1 to 9." }),
        cabinClass: t.arg({ type: CabinClass, description: "A cabin; any if left out." }),
        page: t.arg.int({ defaultValue: 1, description: "Which page, from 1." }),
        limit: t.arg.int({
          defaultValue: 20,
          description: "Flights a page: 1 to 100, more counts as 100.",
        }),
      },
      resolve: (_, args) => flights.search({ ...noSearch, ...args }),
    }),
  }));

  const SeatsChangeType = builder.objectRef<SeatsChange>("SeatsChange").implement({
    description: "Seats of a flight were sold or given back.",
    fields: (t) => ({
      flightId: t.exposeInt("flightId", { description: "The flight's number." }),
      seatsAvailable: t.exposeInt("seatsAvailable", { description: "Seats left to sell." }),
    }),
  });

  builder.subscriptionField("seatsChanged", (t) =>
    t.field({
      type: SeatsChangeType,
      description:
        "Every new number of seats of a flight, until the token ends. Changes a moment apart come as one.",
      args: { flightId: t.arg.int({ required: true, description: "The flight's number." }) },
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

/** For arguments that were left out. */
const noSearch = { cabinClass: null, passengers: null, page: null, limit: null };

/** The number in a global id; 0, which no flight has, for what is no number. */
function flightId(id: string): number {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
}

/** What other features use in their own types. */
export type FlightTypes = ReturnType<typeof flightsGraphql>;
