import { tokens } from "../src/identity/auth/token.ts";
import { systemClock } from "../src/base/clock.ts";
import type { Role } from "../src/base/context.ts";

import { packed, type Requests } from "./requests.ts";

/** Signs the access tokens of both servers. */
export const tokenSettings = {
  key: "bench-key-of-thirty-two-bytes-or-more",
  issuer: "skyhook",
  audience: "skyhook",
} as const;

/** Pages to read: paths, in turn. */
export interface PagesPlan {
  readonly paths: readonly string[];
}

export async function pageRequests({ paths }: PagesPlan): Promise<Requests> {
  const authorization = await administrator();
  return packed(paths.length, (index) => ({
    method: "GET",
    path: paths[index] ?? "/",
    headers: { Authorization: authorization },
    json: null,
  }));
}

/** One GraphQL query, posted again and again. */
export interface QueryPlan {
  readonly query: string;
}

export async function queryRequests({ query }: QueryPlan): Promise<Requests> {
  const authorization = await administrator();
  return packed(1, () => ({
    method: "POST",
    path: "/graphql",
    headers: { Authorization: authorization },
    json: JSON.stringify({ query }),
  }));
}

/** Bookings of one seat: of `users` users in turn, each with a token, on `flights` flights in turn. */
export interface BookingsPlan {
  readonly users: number;
  readonly flights: number;
}

/** Makes `count` bookings; no two have the same key or passenger. */
export async function bookingRequests(
  { users, flights }: BookingsPlan,
  count: number,
): Promise<Requests> {
  const bearers: string[] = [];
  for (let user = 0; user < users; user += 1) {
    bearers.push(`Bearer ${await mint(crypto.randomUUID(), "user")}`);
  }
  return packed(count, (index) => ({
    method: "POST",
    path: "/v1/api/bookings",
    headers: {
      Authorization: bearers[index % users] ?? "",
      "Idempotency-Key": crypto.randomUUID(),
    },
    json: JSON.stringify({
      flightId: 1 + (index % flights),
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
    }),
  }));
}

const tokenSeconds = 24 * 3_600;

/** The `Authorization` of someone who may read everything. */
export async function administrator(): Promise<string> {
  return `Bearer ${await mint("bench-admin", "admin")}`;
}

function mint(id: string, role: Role): Promise<string> {
  const key = Buffer.from(tokenSettings.key);
  return tokens({ ...tokenSettings, key }, systemClock).mint({ id, roles: [role] }, tokenSeconds);
}
