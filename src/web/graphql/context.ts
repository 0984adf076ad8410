import type { Bookings } from "../../booking/bookings/bookings.ts";
import type { Clock } from "../../base/clock.ts";
import type { Context, Verify } from "../../base/context.ts";
import type { Events } from "../../gateway/events/events.ts";
import type { Flights } from "../../booking/flights/flights.ts";
import type { Seats } from "../../booking/flights/seats.ts";
import type { ErrorLog } from "../rest/error-log.ts";
import type { Feed } from "../../gateway/notifications/channels/feed.ts";
import type { Notifications } from "../../gateway/notifications/notifications.ts";
import type { Users } from "../../identity/users/users.ts";

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
  readonly logError: ErrorLog;
  /** Whether the playground is served and the schema told. */
  readonly playground: boolean;
  readonly trustedProxyHops: number;
}

/** What the route hands over with a request. */
export interface Incoming {
  readonly requestId: string;
  /** The client's address, which bounds the memory of its large bodies. */
  readonly address: string;
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
