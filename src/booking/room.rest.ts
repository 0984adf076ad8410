import { Elysia } from "elysia";

import type { Clock } from "../base/clock.ts";
import type { Callers } from "../web/rest/route.ts";

import { bookingsRest } from "./bookings/bookings.rest.ts";
import type { Bookings } from "./bookings/bookings.ts";
import { changesRest } from "./changes/changes.rest.ts";
import type { Changes } from "./changes/changes.ts";
import type { Corrections } from "./changes/corrections.ts";
import { flightLoadRest } from "./flights/flight-load.rest.ts";
import type { FlightLoads } from "./flights/flight-load.ts";
import { flightsRest } from "./flights/flights.rest.ts";
import type { Flights } from "./flights/flights.ts";
import type { FreeSeats } from "./flights/free-seats.ts";

export interface BookingServices {
  readonly flights: Flights;
  readonly flightLoads: FlightLoads;
  readonly seats: FreeSeats;
  readonly bookings: Bookings;
  readonly changes: Changes;
  readonly corrections: Corrections;
}

export const bookingRoutes = (services: BookingServices, callers: Callers, clock: Clock) =>
  new Elysia()
    .use(flightsRest(services.flights, callers))
    .use(bookingsRest(services.bookings, callers))
    .use(changesRest(services.changes, services.corrections, callers))
    .use(flightLoadRest(services.flightLoads, callers, clock));
