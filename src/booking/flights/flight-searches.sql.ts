import { asc, type SQL, sql } from "drizzle-orm";

import { rowsAs, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { flightsTable } from "../flight.ts";

import { type FlightQuery, matching } from "./flights.sql.ts";

const tables = { flights: flightsTable };
const statement = statementsOver(tables);

/** Orders flights of one currency: the cheapest first, then by departure, then by id. Prices in other currencies are not compared. */
function byPrice({ flights }: TablesOf<typeof tables>): SQL {
  return sql`${flights.priceMinor}, ${flights.departureTime}, ${flights.id}`;
}

/** Days that follow each other and have the same length. Days are numbered from 0. */
export interface EqualDays {
  readonly first: number;
  readonly starts: Date;
  readonly ends: Date;
  readonly lengthMs: number;
}

/**
 * The cheapest flight of each day in each currency, by day, then by currency, and the number of flights in that currency.
 * Days are equal but for changes of clocks, so `days` are few: PostgreSQL may compare each flight with each of them. An
 * index with prices and seats would save a look-up of each flight, but every sale would have to change it.
 */
export const cheapestByDay = statement<FlightQuery & { days: readonly EqualDays[] }>()((
  db,
  t,
  p,
  dialect,
) => {
  const { id, seats, departureTime, priceMinor, currency } = t.flights;
  const columns = {
    first: seats,
    starts: departureTime,
    ends: departureTime,
    lengthMs: priceMinor,
  };
  const day = sql`days.first + (${departureTime} - days.starts) / days."lengthMs"`;
  const group = sql`partition by ${day}, ${currency}`;
  const ranked = sql`select ${id}, ${priceMinor}, ${currency}, ${day} as day, count(*) over (${group}) as flight_count,
    row_number() over (${group} order by ${byPrice(t)}) as place
    from ${dialect.rows(p.days, columns, "days")} cross join ${t.flights}
    where ${departureTime} >= days.starts and ${departureTime} < days.ends and ${matching(t, p)}`;
  return db
    .select({
      day: sql<number>`day`.mapWith(Number),
      flightId: id,
      priceMinor,
      currency,
      flightCount: sql<number>`flight_count`.mapWith(Number),
    })
    .from(rowsAs(t.flights, ranked))
    .where(sql`place = 1`)
    .orderBy(sql`day`, asc(currency));
});

/** The cheapest flights. Of several currencies, the same number of each, as far as there are so many. */
export const cheapestFlights = statement<FlightQuery & { limit: number }>()((db, t, p) => {
  const { currency } = t.flights;
  const place = sql`row_number() over (partition by ${currency} order by ${byPrice(t)})`;
  return db
    .select()
    .from(t.flights)
    .where(matching(t, p))
    .orderBy(place, asc(currency))
    .limit(p.limit);
});
