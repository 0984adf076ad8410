import type { Clock } from "../base/clock.ts";
import { nextTurn } from "../base/own-turn.ts";
import type { UserTypes } from "../identity/users/users.graphql.ts";
import type { Builder } from "../web/graphql/builder.ts";

import { bookingsGraphql } from "./bookings/bookings.graphql.ts";
import { changesGraphql } from "./changes/changes.graphql.ts";
import { flightSearchesGraphql } from "./flights/flight-searches.graphql.ts";
import { flightsGraphql } from "./flights/flights.graphql.ts";
import type { BookingServices } from "./room.rest.ts";

/** Adds flights, bookings and changes to the schema, over several turns of the event loop. */
export async function bookingGraphql(
  builder: Builder,
  services: BookingServices & { readonly clock: Clock },
  userTypes: UserTypes,
): Promise<void> {
  const flightTypes = flightsGraphql(builder, services);
  await nextTurn();
  flightSearchesGraphql(builder, services.flights, flightTypes);
  await nextTurn();
  const bookingTypes = bookingsGraphql(builder, services.bookings, flightTypes, userTypes);
  changesGraphql(builder, services, flightTypes, bookingTypes);
}
