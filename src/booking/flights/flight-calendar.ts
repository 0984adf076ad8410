import { moneyOf } from "../../base/money.ts";
import type { Storage } from "../../db/storage.ts";

import { dayAt } from "./airports.ts";
import type { Journey } from "./flight-search.ts";
import type { FlightCalendar } from "./flight.schema.ts";
import { cheapestFlights } from "./flights.sql.ts";

/** Reads the lowest prices of days (YYYY-MM-DD) among flights that depart later than `leavesAfter`. */
export async function calendarOf(
  storage: Pick<Storage, "all">,
  journey: Journey,
  dates: readonly string[],
  leavesAfter: Date,
): Promise<FlightCalendar> {
  const days: FlightCalendar["days"][number][] = [];
  // One after the other, so that other long reads wait for one day only.
  for (const date of dates) days.push(await dayOf(storage, journey, date, leavesAfter));
  return { days };
}

async function dayOf(
  storage: Pick<Storage, "all">,
  journey: Journey,
  date: string,
  leavesAfter: Date,
): Promise<FlightCalendar["days"][number]> {
  const day = dayAt(journey.origin, date);
  const query = day && { ...journey, from: day.from, until: day.to, leavesAfter };
  const found = query ? await storage.all(cheapestFlights, query, "long") : [];
  const cheapest = found.map(({ id, priceMinor, currency }) => ({
    flightId: id,
    price: moneyOf(priceMinor, currency),
  }));
  return {
    date,
    flightCount: found.reduce((sum, { flightCount }) => sum + flightCount, 0),
    cheapest: cheapest.length === 0 ? null : cheapest,
  };
}
