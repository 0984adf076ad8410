import { type Context, requireOperator } from "../../base/context.ts";
import type { Storage } from "../../db/storage.ts";

import type { DepartureLoads, FlightLoad } from "./flight-load.schema.ts";
import { departuresBetween, loadBetween } from "./flights.sql.ts";

/** Both throw `insufficient-scope` unless the caller is an operator or an admin. */
export interface FlightLoads {
  byDay(ctx: Context, from: Temporal.PlainDate, days: number): Promise<FlightLoad>;
  ofDay(ctx: Context, date: Temporal.PlainDate): Promise<DepartureLoads>;
}

const maxDepartures = 500;

export function flightLoads(storage: Storage): FlightLoads {
  return {
    async byDay(ctx, from, days) {
      requireOperator(ctx);
      const dates = Array.from({ length: days }, (_, day) => from.add({ days: day }));
      const loads = await Promise.all(
        dates.map(async (date) => {
          const [load] = await storage.all(loadBetween, spanOf(date));
          return { departures: 0, seats: 0, sold: 0, ...load, date: date.toString() };
        }),
      );
      return { from: from.toString(), days: loads };
    },
    async ofDay(ctx, date) {
      requireOperator(ctx);
      const limit = maxDepartures + 1;
      const found = await storage.all(departuresBetween, { ...spanOf(date), limit });
      return {
        date: date.toString(),
        departures: found.slice(0, maxDepartures),
        hasMore: found.length > maxDepartures,
      };
    },
  };
}

/** The start and the end of a day in UTC. */
function spanOf(date: Temporal.PlainDate): { readonly from: Date; readonly until: Date } {
  const startOf = (day: Temporal.PlainDate) =>
    new Date(day.toZonedDateTime("UTC").epochMilliseconds);
  return { from: startOf(date), until: startOf(date.add({ days: 1 })) };
}
