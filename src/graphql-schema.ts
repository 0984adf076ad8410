import { bookingsGraphql } from "./booking/bookings/bookings.graphql.ts";
import { flightsGraphql } from "./booking/flights/flights.graphql.ts";
import { eventsGraphql } from "./events/events.graphql.ts";
import { usersGraphql } from "./identity/users/users.graphql.ts";
import { destinationsGraphql } from "./outbound/destinations/destinations.graphql.ts";
import { notificationsGraphql } from "./outbound/notifications/notifications.graphql.ts";
import type { Services } from "./services.ts";
import { createBuilder } from "./web/graphql/builder.ts";
import { scalars } from "./web/graphql/scalars.ts";

/** The GraphQL schema, whose resolvers call `services`. `schema.graphql` is its printed form. */
export function createSchema(services: Services) {
  const builder = createBuilder();
  scalars(builder);
  const userTypes = usersGraphql(builder, services.users);
  const flightTypes = flightsGraphql(builder, services);
  const notificationTypes = notificationsGraphql(builder, services);
  bookingsGraphql(builder, services.bookings, flightTypes, userTypes, notificationTypes);
  destinationsGraphql(builder, services);
  eventsGraphql(builder, services.events, notificationTypes);
  return builder.toSchema();
}
