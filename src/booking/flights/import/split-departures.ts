import type { Storage } from "../../../db/storage.ts";

import { cabinsOf } from "./import-flights.sql.ts";
import type { Update } from "./planned-changes.ts";

/**
 * A sentence for each departure of which some cabins are moved or cancelled, and others stay: an airline moves an aircraft,
 * so a line may be missing. Run it before the updates.
 */
export async function splitDepartures(
  storage: Storage,
  updates: readonly Update[],
): Promise<readonly string[]> {
  const leaving = updates.filter(
    ({ before, after }) =>
      after.cancelledAt !== before.cancelledAt ||
      after.departureTime.getTime() !== before.departureTime.getTime(),
  );
  const ids = new Set(leaving.map(({ before }) => before.id));
  const departures = Map.groupBy(
    leaving,
    ({ before }) => `${before.flightNumber} of ${before.departureTime.toISOString()}`,
  );
  const sentences: string[] = [];
  for (const [departure, changed] of departures) {
    const [first] = changed;
    if (first === undefined) continue;
    const staying = (await storage.all(cabinsOf, first.before)).filter(({ id }) => !ids.has(id));
    if (staying.length === 0) continue;
    const verb = first.after.cancelledAt === null ? "moved" : "cancelled";
    const cabins = changed.map(({ before: { cabinClass } }) => cabinClass).join(" and ");
    const others = staying.map(({ cabinClass }) => cabinClass).join(" and ");
    sentences.push(`${departure}: ${cabins} is ${verb}, but ${others} stays`);
  }
  return sentences;
}
