import type { Context } from "../../base/context.ts";
import type { DepartureLoad } from "../../booking/flights/flight-load.schema.ts";
import type { Services } from "../../services.ts";

import { chance, person } from "./cast.ts";
import type { Moment } from "./timeline.ts";

const dayMs = 86_400_000;
/** How long before now the first seat was sold. */
const salesMs = 30 * dayMs;
const maxPassengers = 9;
const groupsAfterDays = 14;
/** Who books. */
const customers = 24;

/** How a cabin sells, beside economy. */
const cabinShares: Readonly<Record<string, number>> = { business: 0.8, first: 0.55 };

/** The share of seats to sell: fewer the later the departure, and differently by route, day and cabin. */
function soldShare({ id, origin, destination, cabinClass }: DepartureLoad, daysAhead: number) {
  const route = 0.5 + 0.6 * chance(Bun.hash.crc32(origin + destination));
  const booked = 0.12 + 0.86 * Math.exp(-Math.max(0, daysAhead) / 24);
  return Math.min(1, booked * route * (cabinShares[cabinClass] ?? 1) * (0.8 + 0.4 * chance(id)));
}

/** A customer of the demo, signed in. */
export async function customer(
  { users }: Pick<Services, "users">,
  number: number,
): Promise<Context> {
  const [first, last] = person(number);
  const email = addressOf(first, last);
  const { user } = await users.ensureUser({ name: `${first} ${last}`, email });
  return contextOf(user.id, "user");
}

export function contextOf(id: string, role: "user" | "admin"): Context {
  return { actor: { id, roles: [role] }, expiresAt: new Date(8.64e15), requestId: "demo" };
}

const addressOf = (first: string, last: string) => `${first}.${last}@demo.example`.toLowerCase();

/** The body of a booking of so many seats, for people who travel together. */
export function bookingOf(flightId: number, seats: number, number: number) {
  const group = Array.from({ length: seats }, (_, index) => {
    const [firstName] = person(number + index);
    const [, lastName] = person(number + (index >> 2));
    const email = addressOf(firstName, lastName);
    const passportNumber = `X${String(1_000_000 + index)}`;
    return { firstName, lastName, email, dateOfBirth: "1990-04-12", passportNumber };
  });
  const contactEmail = group[0]?.email ?? "";
  return { flightId, contactEmail, paymentMethod: "card", passengers: group };
}

/** Bookings of the last 30 days, none or some for each cabin. A few were cancelled. */
export async function pastSales(
  services: Services,
  departures: readonly DepartureLoad[],
  nowMs: number,
): Promise<Moment[]> {
  const contexts = await Promise.all(
    Array.from({ length: customers }, async (_, index) => customer(services, index)),
  );
  return departures.flatMap((departure) => {
    const { id, seats, departureTime } = departure;
    const daysAhead = (departureTime.getTime() - nowMs) / dayMs;
    // Far ahead, fewer but larger groups, which keeps the start short.
    const part = daysAhead > groupsAfterDays ? 0.35 : 1;
    const share = chance(id * 37) < part ? soldShare(departure, daysAhead) / part : 0;
    const wanted = Math.min(seats, Math.floor(seats * share + chance(id * 31)));
    return Array.from({ length: Math.ceil(wanted / maxPassengers) }, (_, index): Moment => {
      const number = id * 4 + index;
      const ctx = contexts[number % contexts.length] ?? contextOf("demo", "user");
      const size = Math.min(maxPassengers, wanted - index * maxPassengers);
      // Those who leave today booked before.
      const leastMs = daysAhead < 2 ? dayMs : 0;
      return {
        agoMs: leastMs + Math.floor(chance(number) * (salesMs - leastMs)),
        async happen() {
          const { made } = await services.bookings.create(ctx, bookingOf(id, size, number), null);
          if (number % 40 === 3) await services.bookings.cancel(ctx, made.bookingId);
        },
      };
    });
  });
}
