import { type Context, requireOperator } from "../../base/context.ts";
import type { Storage } from "../../db/storage.ts";

import type { FlightFilters } from "./flight-filters.ts";
import type { DepartureLoads, FlightLoad } from "./flight-load.schema.ts";
import { timeAt } from "./flight-view.ts";
import { departuresBetween, loadBetween } from "./flights.sql.ts";

/** Both throw `insufficient-scope` unless the caller is an operator or an admin. */
export interface FlightLoads {
  byDay(
    ctx: Context,
    from: Temporal.PlainDate,
    days: number,
    filters?: FlightFilters,
  ): Promise<FlightLoad>;
  ofDay(ctx: Context, date: Temporal.PlainDate, filters?: FlightFilters): Promise<DepartureLoads>;
}

const maxDepartures = 500;

export function flightLoads(storage: Storage): FlightLoads {
  return {
    async byDay(ctx, from, days, filters) {
      requireOperator(ctx);
      const dates = Array.from({ length: days }, (_, day) => from.add({ days: day }));
      const loads = await Promise.all(
        dates.map(async (date) => {
          const [load] = await storage.all(loadBetween, departing(date, filters));
          return { departures: 0, seats: 0, sold: 0, ...load, date: date.toString() };
        }),
      );
      return { from: from.toString(), days: loads };
    },
    async ofDay(ctx, date, filters) {
      requireOperator(ctx);
      const limit = maxDepartures + 1;
      const found = await storage.all(departuresBetween, { ...departing(date, filters), limit });
      return {
        date: date.toString(),
        departures: found
          .slice(0, maxDepartures)
          .map((one) => ({ ...one, departureLocal: timeAt(one.origin, one.departureTime) })),
        hasMore: found.length > maxDepartures,
      };
    },
  };
}

/** A day in UTC, and the flights to match. */
function departing(date: Temporal.PlainDate, filters: FlightFilters = {}) {
  const startOf = (day: Temporal.PlainDate) =>
    new Date(day.toZonedDateTime("UTC").epochMilliseconds);
  const { flight = null, origin = null, destination = null } = filters;
  return {
    from: startOf(date),
    until: startOf(date.add({ days: 1 })),
    flight,
    origin,
    destination,
  };
}
