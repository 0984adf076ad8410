import type { Verify } from "../auth/token.ts";
import type { Bookings } from "../bookings/bookings.ts";
import type { Clock } from "../clock.ts";
import type { Context } from "../context.ts";
import type { Events } from "../events/events.ts";
import type { Flights } from "../flights/flights.ts";
import type { Seats } from "../flights/seats.ts";
import type { FailureLog } from "../http/failure-log.ts";
import type { Feed } from "../notifications/channels/feed.ts";
import type { Notifications } from "../notifications/notifications.ts";
import type { Users } from "../users/users.ts";

import type { Loaders } from "./loaders.ts";

/** What resolvers call: the same verbs as REST. */
export interface Verbs {
  readonly flights: Flights;
  readonly seats: Seats;
  readonly bookings: Bookings;
  readonly users: Users;
  readonly events: Events;
  readonly notifications: Notifications;
  readonly feed: Feed;
}

/** What the GraphQL door needs. */
export interface GraphqlParts {
  readonly verbs: Verbs;
  readonly verify: Verify;
  readonly clock: Clock;
  readonly logFailure: FailureLog;
  /** Whether the playground is served and the schema told. */
  readonly playground: boolean;
}

/** What the route hands over with a request. */
export interface Incoming {
  readonly requestId: string;
}

/** What every resolver is told about the request it serves. */
export interface GraphqlContext {
  readonly verbs: Verbs;
  readonly clock: Clock;
  /** Reads by id, many at once. */
  readonly load: Loaders;
  /** The asker, as verbs know them. Throws `authentication-required` for one without a token. */
  readonly signedIn: () => Context;
  readonly requestId: string;
}
