import { moneyOf } from "../../base/money.ts";
import type { Storage } from "../../db/storage.ts";
import type { Flight } from "../flight.ts";

import { dayAt } from "./airports.ts";
import { type Journey, maxFlightsPerLeg, type TripSearch } from "./flight-search.ts";
import { cheapestFlights } from "./flight-searches.sql.ts";
import { flightView } from "./flight-view.ts";
import type { FlightTrips } from "./flight.schema.ts";

interface Pair {
  readonly outbound: Flight;
  readonly inbound: Flight;
  /** For one passenger, in minor units. */
  readonly priceMinor: number;
}

/** A page of return trips, whose flights depart later than `leavesAfter`. */
export async function tripsOf(
  storage: Pick<Storage, "all">,
  { departureDate, returnDate, page, limit, ...journey }: TripSearch,
  leavesAfter: Date,
): Promise<FlightTrips> {
  const { origin, destination, passengers } = journey;
  const back = { ...journey, origin: destination, destination: origin };
  const [outbound, inbound] = await Promise.all([
    legOf(storage, journey, departureDate, leavesAfter),
    legOf(storage, back, returnDate, leavesAfter),
  ]);
  const { pairs, mixedCurrencies } = pairsOf(outbound, inbound);
  return {
    trips: pairs
      .toSorted(byTotal)
      .slice((page - 1) * limit, page * limit)
      .map((pair) => ({
        outbound: flightView(pair.outbound),
        inbound: flightView(pair.inbound),
        totalPrice: moneyOf(pair.priceMinor * passengers, pair.outbound.currency),
      })),
    totalResults: pairs.length,
    mixedCurrencies,
    page,
    pageSize: limit,
  };
}

async function legOf(
  storage: Pick<Storage, "all">,
  journey: Journey,
  date: string,
  leavesAfter: Date,
) {
  const day = dayAt(journey.origin, date);
  if (day === null) return [];
  const query = { ...journey, from: day.from, until: day.to, leavesAfter };
  return storage.all(cheapestFlights, { ...query, limit: maxFlightsPerLeg });
}

/** The flights that can follow each other. A pair has a total only in one currency. */
function pairsOf(outbound: readonly Flight[], inbound: readonly Flight[]) {
  const pairs: Pair[] = [];
  let mixedCurrencies = 0;
  for (const out of outbound) {
    for (const back of inbound) {
      if (back.departureTime <= out.arrivalTime) continue;
      if (back.currency !== out.currency) mixedCurrencies += 1;
      else
        pairs.push({ outbound: out, inbound: back, priceMinor: out.priceMinor + back.priceMinor });
    }
  }
  return { pairs, mixedCurrencies };
}

function byTotal(one: Pair, other: Pair): number {
  return (
    one.outbound.currency.localeCompare(other.outbound.currency) ||
    one.priceMinor - other.priceMinor ||
    one.outbound.departureTime.getTime() - other.outbound.departureTime.getTime() ||
    one.inbound.departureTime.getTime() - other.inbound.departureTime.getTime() ||
    one.outbound.id - other.outbound.id ||
    one.inbound.id - other.inbound.id
  );
}
