import { parseMinor } from "../../base/money.ts";
import { airport, instantAt } from "../../booking/flights/airports.ts";
import type { FlightPlan } from "../../booking/model/flight.ts";

/** Fictional: flight number, origin, destination, local departure, minutes, price of an economy seat in USD. */
const timetable = [
  ["N4101", "JFK", "LHR", "18:25", 425, 489],
  ["N4102", "LHR", "JFK", "10:40", 480, 512],
  ["N4111", "JFK", "LAX", "07:30", 375, 219],
  ["N4112", "LAX", "NRT", "11:50", 705, 865],
] as const;
/** Seats for sale, and the price relative to economy. */
const cabins = [
  ["first", 2, 6.2],
  ["business", 4, 3.4],
  ["economy", 9, 1],
] as const;

/**
 * The next departures of each flight number, one a day, in each cabin. The next economy seats are last: lists that begin
 * with the newest flights then begin with different ones.
 */
export function demoFlights(now: Date, days: number): FlightPlan[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO("UTC");
  // At the origin it may be the day before or after.
  const dates = Array.from({ length: days + 3 }, (_, day) =>
    today.toPlainDate().add({ days: day - 1 }),
  );
  const legs = timetable.map(([flightNumber, origin, destination, plainTime, minutes, dollars]) => {
    const place = airport(origin) ?? { iata: origin, zone: "UTC" };
    return dates
      .map((date) => instantAt(place, new Date(`${date.toString()}T${plainTime}Z`)))
      .filter((departureTime) => departureTime > now)
      .slice(0, days)
      .map((departureTime) => {
        const arrivalTime = new Date(departureTime.getTime() + minutes * 60_000);
        return { dollars, flightNumber, origin, destination, departureTime, arrivalTime };
      });
  });
  const latestFirst = Array.from({ length: days }, (_, day) =>
    legs.flatMap((each) => each.at(-1 - day) ?? []),
  ).flat();
  return cabins.flatMap(([cabinClass, seats, factor]) =>
    latestFirst.map(({ dollars, ...leg }) => ({
      ...leg,
      airline: "Northlight Airways",
      cabinClass,
      seats,
      priceMinor: parseMinor((dollars * factor).toFixed(0), "USD"),
      currency: "USD",
    })),
  );
}
