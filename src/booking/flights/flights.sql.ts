import { and, asc, eq, gt, gte, isNull, lt, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import {
  allColumns,
  encoded,
  type Parameters,
  rowsAs,
  statementsOver,
} from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type CabinClass, type Flight, type FlightPlan, flightsTable } from "../model/flight.ts";

const tables = { flights: flightsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

export const flightById = statement<Pick<Flight, "id">>()((db, t, p) =>
  db.select().from(t.flights).where(eq(t.flights.id, p.id)).limit(1),
);

export const flightsByIds = statement<{ ids: readonly Flight["id"][] }>()((db, t, p, dialect) =>
  db.select().from(t.flights).where(dialect.among(t.flights.id, p.ids)),
);

export const flightPages = pagesOver(tables)<Flight, never, Flight["id"]>({
  table: (t) => t.flights,
  select: (db, t) => db.select().from(t.flights),
});

/** Touches no row if the cabin of the departure exists. */
export const insertFlight = statement<FlightPlan & Pick<Flight, "createdAt">>()(
  (db, { flights }, p, dialect) =>
    db
      .insert(flights)
      .values({
        ...allColumns(flights),
        id: dialect.nextNumber(flights.id),
        seatsAvailable: p.seats,
        oversold: sql`0`,
        cancelledAt: sql`null`,
        revision: sql`0`,
        lastChange: sql`null`,
      })
      .onConflictDoNothing(),
);

/** Matches departures of one route in a time range with enough seats left. */
export interface FlightQuery {
  readonly origin: string;
  readonly destination: string;
  readonly from: Date;
  readonly until: Date;
  /** Match only flights that depart later than this. */
  readonly leavesAfter: Date;
  readonly passengers: number;
  readonly cabinClass: CabinClass | null;
}

export function matching(
  { flights }: Pick<Tables, "flights">,
  p: Parameters<FlightQuery>,
): SQL | undefined {
  const { departureTime } = flights;
  return and(
    eq(flights.origin, p.origin),
    eq(flights.destination, p.destination),
    gte(departureTime, encoded(p.from, departureTime)),
    lt(departureTime, encoded(p.until, departureTime)),
    gt(departureTime, encoded(p.leavesAfter, departureTime)),
    gte(flights.seatsAvailable, p.passengers),
    isNull(flights.cancelledAt),
    // Null matches every cabin.
    sql`coalesce(${p.cabinClass}, ${flights.cabinClass}) = ${flights.cabinClass}`,
  );
}

/** Matching flights, by departure (earliest first), then by id. */
export const searchFlights = statement<FlightQuery & { limit: number; offset: number }>()(
  (db, t, p) =>
    db
      .select()
      .from(t.flights)
      .where(matching(t, p))
      .orderBy(asc(t.flights.departureTime), asc(t.flights.id))
      .limit(p.limit)
      .offset(p.offset),
);

export const countFlights = statement<FlightQuery>()((db, t, p) =>
  db
    .select({ total: sql<number>`count(*)`.mapWith(Number) })
    .from(t.flights)
    .where(matching(t, p)),
);

/** The cheapest match in each currency, by currency, with the number of matches in it. Of equal prices, the earliest departure. */
export const cheapestFlights = statement<FlightQuery>()((db, t, p) => {
  const { id, priceMinor, currency, departureTime } = t.flights;
  const ranked = sql`select ${id}, ${priceMinor}, ${currency}, count(*) over (partition by ${currency}) as flight_count,
    row_number() over (partition by ${currency} order by ${priceMinor}, ${departureTime}, ${id}) as place
    from ${t.flights} where ${matching(t, p)}`;
  const flightCount = sql<number>`flight_count`.mapWith(Number);
  return db
    .select({ id, priceMinor, currency, flightCount })
    .from(rowsAs(t.flights, ranked))
    .where(sql`place = 1`)
    .orderBy(asc(currency));
});

/** Matches departures in a time range that are not cancelled. Null matches every flight number and airport. */
interface Departing {
  readonly from: Date;
  readonly until: Date;
  readonly flight: string | null;
  readonly origin: string | null;
  readonly destination: string | null;
}

function departing({ flights }: Tables, p: Parameters<Departing>): SQL | undefined {
  const { departureTime, flightNumber, origin, destination } = flights;
  return and(
    isNull(flights.cancelledAt),
    gte(departureTime, encoded(p.from, departureTime)),
    lt(departureTime, encoded(p.until, departureTime)),
    sql`coalesce(${p.flight}, ${flightNumber}) = ${flightNumber}`,
    sql`coalesce(${p.origin}, ${origin}) = ${origin}`,
    sql`coalesce(${p.destination}, ${destination}) = ${destination}`,
  );
}

/** The totals of departures (counted by cabin), seats and seats sold in a time range. */
export const loadBetween = statement<Departing>()((db, t, p) => {
  const { seats, seatsAvailable } = t.flights;
  return db
    .select({
      departures: sql<number>`count(*)`.mapWith(Number),
      seats: sql<number>`coalesce(sum(${seats}), 0)`.mapWith(Number),
      sold: sql<number>`coalesce(sum(${seats} - ${seatsAvailable}), 0)`.mapWith(Number),
    })
    .from(t.flights)
    .where(departing(t, p));
});

/** Each departure's seats and seats sold, by departure (earliest first), then by id. */
export const departuresBetween = statement<Departing & { limit: number }>()((db, t, p) => {
  const { id, flightNumber, origin, destination, departureTime, cabinClass, seats } = t.flights;
  const sold = sql<number>`${seats} - ${t.flights.seatsAvailable}`.mapWith(Number);
  return db
    .select({ id, flightNumber, origin, destination, departureTime, cabinClass, seats, sold })
    .from(t.flights)
    .where(departing(t, p))
    .orderBy(asc(departureTime), asc(id))
    .limit(p.limit);
});

/** Seats of a flight to take. */
interface Seating {
  readonly id: Flight["id"];
  readonly seats: number;
  /** Sales have ended for flights that depart then or earlier. */
  readonly closesAfter: Date;
}

/** Values of a flight that must be unchanged since they were read; null matches any value. */
type Read<Names extends keyof Flight> = { readonly [Name in Names]: Flight[Name] | null };

const contended = ({ id }: Pick<Flight, "id">) => ({ table: flightsTable, ids: [id] });

/**
 * Takes seats, and returns the number left. Touches no row if too few are left, sales have ended, the flight is cancelled, or its
 * price, times or airports are not those that were read. One statement checks and updates, so that the database resolves
 * concurrent bookings.
 */
export const takeSeats = statement<Seating & Read<"priceMinor" | "currency" | "revision">>()(
  (db, { flights }, p) => {
    const { priceMinor, currency, revision } = flights;
    return db
      .update(flights)
      .set({ seatsAvailable: sql`${flights.seatsAvailable} - ${p.seats}` })
      .where(
        and(
          eq(flights.id, p.id),
          gte(flights.seatsAvailable, p.seats),
          isNull(flights.cancelledAt),
          gt(flights.departureTime, encoded(p.closesAfter, flights.departureTime)),
          sql`coalesce(${p.priceMinor}, ${priceMinor}) = ${priceMinor}`,
          sql`coalesce(${p.currency}, ${currency}) = ${currency}`,
          sql`coalesce(${p.revision}, ${revision}) = ${revision}`,
        ),
      )
      .returning({ seatsAvailable: flights.seatsAvailable });
  },
  { contended },
);

/** Returns a row unless the flight was moved or cancelled since it was read. An import waits for its transaction. */
export const flightAt = statement<Pick<Flight, "id" | "revision">>()(
  (db, { flights }, p) =>
    db
      .select({ id: flights.id })
      .from(flights)
      .where(and(eq(flights.id, p.id), eq(flights.revision, p.revision))),
  { contended },
);

/**
 * Gives seats back that were sold. Touches no row if the flight was moved or cancelled since it was read. Nor if it would have
 * more free seats than seats: the transaction then fails for another reason, which this must not hide.
 */
export const giveSeatsBack = statement<Pick<Flight, "id" | "seats" | "revision">>()(
  (db, { flights }, p) =>
    db
      .update(flights)
      .set({ seatsAvailable: sql`${flights.seatsAvailable} + ${p.seats}` })
      .where(
        and(
          eq(flights.id, p.id),
          eq(flights.revision, p.revision),
          sql`${flights.seatsAvailable} + ${p.seats} <= ${flights.seats}`,
        ),
      ),
  { contended },
);
