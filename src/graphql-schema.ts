import { bookingsGraphql } from "./booking/bookings/bookings.graphql.ts";
import { eventsGraphql } from "./gateway/events/events.graphql.ts";
import { flightsGraphql } from "./booking/flights/flights.graphql.ts";
import { notificationsGraphql } from "./gateway/notifications/notifications.graphql.ts";
import { usersGraphql } from "./identity/users/users.graphql.ts";

import { createBuilder } from "./web/graphql/builder.ts";
import { scalars } from "./web/graphql/scalars.ts";

const builder = createBuilder();
scalars(builder);
flightsGraphql(builder);
bookingsGraphql(builder);
usersGraphql(builder);
eventsGraphql(builder);
notificationsGraphql(builder);

/** The one schema. `schema.graphql` is its printed form. */
export const schema = builder.toSchema();
