import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { nullWhere } from "../../web/graphql/errors.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";
import { decodeNumberCursor } from "../../base/cursor.ts";

import { cabinClasses } from "../flight.ts";

/** Flights: public, but for following their seats. */
export function flightsGraphql(builder: Builder): void {
  const CabinClass = builder.enumType("CabinClass", {
    description: "The cabins that are sold.",
    values: cabinClasses,
  });

  builder.objectType("Price", {
    description: "What one seat costs.",
    fields: (t) => ({
      amount: t.expose("amount", { type: "Money", description: "In major units of `currency`." }),
      currency: t.exposeString("currency", { description: "ISO 4217 code, as USD." }),
    }),
  });

  builder.node("Flight", {
    description: "One bookable cabin of one departure.",
    id: { resolve: ({ id }) => id, parse: flightId },
    loadManyWithoutCache: (ids, { load }) => Promise.all(ids.map(load.flight)),
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
      price: t.expose("price", { type: "Price", description: "Price of one seat." }),
      seatsAvailable: t.exposeInt("seatsAvailable", { description: "Seats left to sell." }),
      createdAt: t.expose("createdAt", {
        type: "DateTime",
        description: "When it came into this service.",
      }),
    }),
  });

  builder.objectType("FlightSearchResult", {
    description: "One page of what a search found.",
    fields: (t) => ({
      flights: t.expose("flights", {
        type: ["Flight"],
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
      type: "Flight",
      nullable: true,
      description: "A flight; null where there is none of this number.",
      args: { flightId: t.arg.int({ required: true, description: "The flight's number." }) },
      resolve: (_, { flightId: id }, { verbs }) =>
        nullWhere("flight-not-found", verbs.flights.read(id)),
    }),
    flights: t.connection(
      {
        type: "Flight",
        description: "All flights, the newest in this service first; departed ones too.",
        resolve: (_, args, { verbs }) =>
          connectionOf(args, decodeNumberCursor, (request) => verbs.flights.list(request)),
      },
      { name: "FlightConnection", description: "A page of flights." },
      { name: "FlightEdge", description: "A flight in a list." },
    ),
    searchFlights: t.field({
      type: "FlightSearchResult",
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
      resolve: (_, args, { verbs }) => verbs.flights.search({ ...noSearch, ...args }),
    }),
  }));

  builder.objectType("SeatsChange", {
    description: "Seats of a flight were sold or given back.",
    fields: (t) => ({
      flightId: t.exposeInt("flightId", { description: "The flight's number." }),
      seatsAvailable: t.exposeInt("seatsAvailable", { description: "Seats left to sell." }),
    }),
  });

  builder.subscriptionField("seatsChanged", (t) =>
    t.field({
      type: "SeatsChange",
      description:
        "Every new number of seats of a flight, until the token ends. Changes a moment apart come as one.",
      args: { flightId: t.arg.int({ required: true, description: "The flight's number." }) },
      async subscribe(_, { flightId: id }, { verbs, clock, signedIn }) {
        const ctx = signedIn();
        await verbs.flights.read(id);
        return whileSignedIn(ctx, clock, (signal) => verbs.seats.follow(id, signal));
      },
      resolve: (change) => change,
    }),
  );
}

/** For arguments that were left out. */
const noSearch = { cabinClass: null, passengers: null, page: null, limit: null };

/** The number in a global id; 0, which no flight has, for what is no number. */
function flightId(id: string): number {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
}
