import { systemClock } from "../base/clock.ts";
import type { Services } from "../services.ts";

import { routeIn } from "./demo-route.ts";

/** The passengers, and in how many days they travel. The last one cancels. */
const travellers = [
  { firstName: "Ada", lastName: "Lovelace", days: 3 },
  { firstName: "Grace", lastName: "Hopper", days: 7 },
  { firstName: "Alan", lastName: "Turing", days: 12 },
  { firstName: "Katherine", lastName: "Johnson", days: 21 },
];

/** Creates some bookings and cancels one, for the console to show. */
export async function bookSeats(services: Services): Promise<void> {
  const expiresAt = new Date(systemClock.now() + 60_000);
  for (const [index, { firstName, lastName, days }] of travellers.entries()) {
    const { found } = await routeIn(days, services);
    const [flight] = found;
    if (flight === undefined) continue;
    const email = `${firstName.toLowerCase()}@demo.example`;
    const { user } = await services.users.ensureUser({ name: `${firstName} ${lastName}`, email });
    const actor = { id: user.id, roles: ["user"] } as const;
    const ctx = { actor, expiresAt, requestId: "demo" };
    const papers = { dateOfBirth: "1990-04-12", passportNumber: `X000000${index + 1}` };
    const request = {
      flightId: flight.id,
      contactEmail: email,
      paymentMethod: "card",
      passengers: [{ firstName, lastName, email, ...papers }],
    };
    const { made } = await services.bookings.create(ctx, request, null);
    if (index === travellers.length - 1) await services.bookings.cancel(ctx, made.bookingId);
  }
}
