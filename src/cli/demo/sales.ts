import type { Context } from "../../base/context.ts";
import type { DepartureLoad } from "../../booking/flights/flight-load.schema.ts";
import type { Services } from "../../services.ts";

import type { Moment } from "./timeline.ts";

const dayMs = 86_400_000;
/** How long before now the first seat was sold. */
const salesMs = 30 * dayMs;
const maxPassengers = 9;
/** Smaller cabins are not sold, which keeps the start short. */
const leastSeats = 4;

const passengers = [
  ["Ada", "Lovelace"],
  ["Grace", "Hopper"],
  ["Alan", "Turing"],
  ["Katherine", "Johnson"],
  ["Edsger", "Dijkstra"],
  ["Barbara", "Liskov"],
  ["Donald", "Knuth"],
  ["Margaret", "Hamilton"],
  ["Tony", "Hoare"],
] as const;

/** Returns a repeatable number in [0, 1) for each whole number. */
export const chance = (number: number): number => {
  const mixed = Math.imul(number ^ 0x9e37_79b9, 0x85eb_ca6b);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
};

/** The share of seats to sell: the later the departure, the fewer. 30 to 70 %. */
function soldShare(daysAhead: number, number: number): number {
  return 0.62 - 0.24 * Math.min(1, daysAhead / 60) + 0.16 * (chance(number) - 0.5);
}

/** A customer of the demo, signed in. */
export async function customer(
  { users }: Pick<Services, "users">,
  number: number,
): Promise<Context> {
  const [first = "", last = ""] = passengers[number % passengers.length] ?? [];
  const email = `${first.toLowerCase()}@demo.example`;
  const { user } = await users.ensureUser({ name: `${first} ${last}`, email });
  return contextOf(user.id, "user");
}

export function contextOf(id: string, role: "user" | "admin"): Context {
  return { actor: { id, roles: [role] }, expiresAt: new Date(8.64e15), requestId: "demo" };
}

/** The body of a booking of so many seats. */
export function bookingOf(flightId: number, seats: number, number: number) {
  const group = Array.from({ length: seats }, (_, index) => {
    const [firstName = "", lastName = ""] = passengers[(number + index) % passengers.length] ?? [];
    const email = `${firstName.toLowerCase()}@demo.example`;
    const passportNumber = `X${String(1_000_000 + index)}`;
    return { firstName, lastName, email, dateOfBirth: "1990-04-12", passportNumber };
  });
  const contactEmail = group[0]?.email ?? "";
  return { flightId, contactEmail, paymentMethod: "card", passengers: group };
}

/** Bookings of the last 30 days, one or two for a cabin that is not tiny. A few were cancelled. */
export async function pastSales(
  services: Services,
  departures: readonly DepartureLoad[],
  nowMs: number,
): Promise<Moment[]> {
  const customers = await Promise.all(
    passengers.map(async (_, index) => customer(services, index)),
  );
  return departures.flatMap(({ id, seats, departureTime }) => {
    if (seats < leastSeats) return [];
    const daysAhead = (departureTime.getTime() - nowMs) / dayMs;
    const wanted = Math.round(seats * soldShare(daysAhead, id));
    const groups = Math.ceil(wanted / maxPassengers);
    return Array.from({ length: groups }, (_, index): Moment => {
      const number = id * 4 + index;
      const ctx = customers[number % customers.length] ?? contextOf("demo", "user");
      const size = Math.min(maxPassengers, wanted - index * maxPassengers);
      return {
        agoMs: Math.floor(chance(number) * salesMs),
        async happen() {
          const { made } = await services.bookings.create(ctx, bookingOf(id, size, number), null);
          if (number % 40 === 3) await services.bookings.cancel(ctx, made.bookingId);
        },
      };
    });
  });
}
