import { AppError } from "../../base/errors.ts";
import { moneyOf } from "../../base/money.ts";
import type { Storage } from "../../db/storage.ts";

import { dayAt } from "./airports.ts";
import type { Journey } from "./flight-search.ts";
import { cheapestByDay, type EqualDays } from "./flight-searches.sql.ts";
import type { FlightCalendar } from "./flight.schema.ts";

/** The days of one read. Calendars take turns with each other, and other long reads wait for one such read only. */
const daysPerRead = 7;
/** The most calendars in progress. */
const maxCalendars = 32;

/** The lowest prices of consecutive days (YYYY-MM-DD) among flights that depart later than `leavesAfter`. */
type CalendarOf = (
  journey: Journey,
  dates: readonly string[],
  leavesAfter: Date,
) => Promise<FlightCalendar>;

/** Reads price calendars. Throws `unavailable` if too many are in progress. */
export function calendars(storage: Pick<Storage, "all">): CalendarOf {
  let inProgress = 0;
  return async (journey, dates, leavesAfter) => {
    if (inProgress >= maxCalendars) {
      const detail = "Too many price calendars are being read. Try again later.";
      throw new AppError("unavailable", detail, { retryAfterSeconds: 2 });
    }
    inProgress += 1;
    try {
      const days: FlightCalendar["days"][number][] = [];
      for (let start = 0; start < dates.length; start += daysPerRead) {
        const part = dates.slice(start, start + daysPerRead);
        days.push(...(await daysOf(storage, journey, part, leavesAfter)));
      }
      return { days };
    } finally {
      inProgress -= 1;
    }
  };
}

async function daysOf(
  storage: Pick<Storage, "all">,
  journey: Journey,
  dates: readonly string[],
  leavesAfter: Date,
): Promise<FlightCalendar["days"]> {
  const days = equalDays(journey.origin, dates);
  const [from, until] = [days[0]?.starts, days.at(-1)?.ends];
  const query = from && until && { ...journey, from, until, leavesAfter, days };
  // Long: it reads all flights of the days.
  const found = query ? await storage.all(cheapestByDay, query, "long") : [];
  const byDay = Map.groupBy(found, ({ day }) => day);
  return dates.map((date, day) => {
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
  });
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
