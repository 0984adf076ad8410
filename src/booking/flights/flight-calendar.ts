import { moneyOf } from "../../base/money.ts";
import type { Storage } from "../../db/storage.ts";

import { dayAt } from "./airports.ts";
import type { Journey } from "./flight-search.ts";
import { cheapestByDay, type EqualDays } from "./flight-searches.sql.ts";
import type { FlightCalendar } from "./flight.schema.ts";

/** The lowest prices of consecutive days (YYYY-MM-DD) among flights that depart later than `leavesAfter`. */
export async function calendarOf(
  storage: Pick<Storage, "all">,
  journey: Journey,
  dates: readonly string[],
  leavesAfter: Date,
): Promise<FlightCalendar> {
  const days = equalDays(journey.origin, dates);
  const [from, until] = [days[0]?.starts, days.at(-1)?.ends];
  const query = from && until && { ...journey, from, until, leavesAfter, days };
  // Long: it reads all flights of the days.
  const found = query ? await storage.all(cheapestByDay, query, "long") : [];
  const byDay = Map.groupBy(found, ({ day }) => day);
  return {
    days: dates.map((date, day) => {
      const cheapest = byDay.get(day) ?? null;
      return {
        date,
        flightCount: (cheapest ?? []).reduce((sum, { flightCount }) => sum + flightCount, 0),
        cheapest:
          cheapest?.map(({ flightId, priceMinor, currency }) => ({
            flightId,
            price: moneyOf(priceMinor, currency),
          })) ?? null,
      };
    }),
  };
}

/** The days at an airport, by the indexes of their dates. Dates that do not exist there are left out. */
function equalDays(origin: string, dates: readonly string[]): EqualDays[] {
  const found: EqualDays[] = [];
  for (const [index, date] of dates.entries()) {
    const day = dayAt(origin, date);
    if (day === null) continue;
    const lengthMs = day.to.getTime() - day.from.getTime();
    const last = found.at(-1);
    // Where this day would start if all since the first had its length, and no date were missing.
    const expected = last && last.starts.getTime() + (index - last.first) * lengthMs;
    if (last && expected === day.from.getTime()) found.splice(-1, 1, { ...last, ends: day.to });
    else found.push({ first: index, starts: day.from, ends: day.to, lengthMs });
  }
  return found;
}
