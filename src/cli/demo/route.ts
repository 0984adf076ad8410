import { systemClock } from "../../base/clock.ts";
import type { Services } from "../../services.ts";

const dayMs = 86_400_000;

/** The search for the demo's route in a number of days, and the flights it finds. */
export async function routeIn(days: number, { flights }: Pick<Services, "flights">) {
  const departureDate = new Date(systemClock.now() + days * dayMs).toISOString().slice(0, 10);
  const route = { origin: "JFK", destination: "LHR", departureDate };
  const { flights: found } = await flights.search(route, async () => {});
  return { route, found };
}
