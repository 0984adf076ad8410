import { bookingsGraphql } from "../bookings/bookings.graphql.ts";
import { eventsGraphql } from "../events/events.graphql.ts";
import { flightsGraphql } from "../flights/flights.graphql.ts";
import { notificationsGraphql } from "../notifications/notifications.graphql.ts";
import { usersGraphql } from "../users/users.graphql.ts";

import { createBuilder } from "./builder.ts";
import { scalars } from "./scalars.ts";

const builder = createBuilder();
scalars(builder);
flightsGraphql(builder);
bookingsGraphql(builder);
usersGraphql(builder);
eventsGraphql(builder);
notificationsGraphql(builder);

/** The one schema. `schema.graphql` is its printed form. */
export const schema = builder.toSchema();
