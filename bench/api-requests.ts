import { systemClock } from "../src/base/clock.ts";
import type { Role } from "../src/base/context.ts";
import { tokens } from "../src/identity/auth/token.ts";

import { packRequests, type Requests } from "./requests.ts";

/** The token settings of all servers under test. */
export const tokenSettings = {
  key: "bench-key-of-thirty-two-bytes-or-more",
  issuer: "skyhook",
  audience: "skyhook",
} as const;

/** Paths of the pages to read, used in rotation. */
export interface PagesPlan {
  readonly paths: readonly string[];
}

export async function pageRequests({ paths }: PagesPlan): Promise<Requests> {
  const authorization = await administrator();
  return packRequests(paths.length, (index) => ({
    method: "GET",
    path: paths[index] ?? "/",
    headers: { Authorization: authorization },
    json: null,
  }));
}

/** A GraphQL query that is sent repeatedly. */
export interface QueryPlan {
  readonly query: string;
}

export async function queryRequests({ query }: QueryPlan): Promise<Requests> {
  const authorization = await administrator();
  return packRequests(1, () => ({
    method: "POST",
    path: "/graphql",
    headers: { Authorization: authorization },
    json: JSON.stringify({ query }),
  }));
}

/** Bookings of one seat each, in rotation over `users` users with a token each and over `flights` flights. */
export interface BookingsPlan {
  readonly users: number;
  readonly flights: number;
  /** Holds the seats for a payment, instead of booking them. */
  readonly hold?: boolean;
}

/** Makes `count` booking requests with unique keys and passengers. */
export async function bookingRequests(
  { users, flights, hold = false }: BookingsPlan,
  count: number,
): Promise<Requests> {
  const bearers: string[] = [];
  for (let user = 0; user < users; user += 1) {
    bearers.push(`Bearer ${await mint(crypto.randomUUID(), "user")}`);
  }
  return packRequests(count, (index) => ({
    method: "POST",
    path: "/v1/api/bookings",
    headers: {
      Authorization: bearers[index % users] ?? "",
      "Idempotency-Key": crypto.randomUUID(),
    },
    json: JSON.stringify({
      // Another flight each time, since a user can hold few seats of a flight.
      flightId: 1 + ((index + Math.floor(index / users)) % flights),
      passengers: [
        {
          firstName: "Ada",
          lastName: "Lovelace",
          email: `ada.${index}@example.com`,
          dateOfBirth: "1990-04-12",
          passportNumber: `X${String(index).padStart(8, "0")}`,
        },
      ],
      contactEmail: "contact@example.com",
      paymentMethod: "card",
      ...(hold && { hold }),
    }),
  }));
}

const tokenSeconds = 24 * 3_600;

/** The `Authorization` header of an admin. */
export async function administrator(): Promise<string> {
  return `Bearer ${await mint("bench-admin", "admin")}`;
}

function mint(id: string, role: Role): Promise<string> {
  const key = Buffer.from(tokenSettings.key);
  return tokens({ ...tokenSettings, key }, systemClock).mint({ id, roles: [role] }, tokenSeconds);
}
