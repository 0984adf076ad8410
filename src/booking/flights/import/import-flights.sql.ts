import { and, asc, eq, isNull, lte, sql } from "drizzle-orm";

import { allColumns, encoded, type Parameters, statementsOver } from "../../../db/statement.ts";
import type { TablesOf } from "../../../db/table.ts";
import { type Flight, flightEventsTable, flightsTable } from "../../model/flight.ts";

const tables = { flights: flightsTable, unsent: flightEventsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** What identifies a flight in a file. */
export type FlightKey = Pick<Flight, "flightNumber" | "departureTime" | "cabinClass">;

type Departure = Pick<Flight, "flightNumber" | "departureTime">;

const departs = ({ flights }: Tables, p: Parameters<Departure>) =>
  and(
    eq(flights.flightNumber, p.flightNumber),
    eq(flights.departureTime, encoded(p.departureTime, flights.departureTime)),
  );

export const flightByKey = statement<FlightKey>()((db, t, p) =>
  db
    .select()
    .from(t.flights)
    .where(and(departs(t, p), eq(t.flights.cabinClass, p.cabinClass)))
    .limit(1),
);

/** Touches no row if more than `mostSold` seats are sold, or another import changed the flight since it was read. */
export const updateFlight = statement<
  Flight & Record<"readRevision" | "readOversold" | "mostSold", number>
>()(
  (db, { flights }, p) =>
    db
      .update(flights)
      .set({
        airline: p.airline,
        origin: p.origin,
        destination: p.destination,
        departureTime: p.departureTime,
        arrivalTime: p.arrivalTime,
        seats: p.seats,
        seatsAvailable: sql`${p.seats} - (${flights.seats} - ${flights.seatsAvailable})`,
        oversold: p.oversold,
        priceMinor: p.priceMinor,
        currency: p.currency,
        cancelledAt: p.cancelledAt,
        revision: p.revision,
        lastChange: p.lastChange,
      })
      .where(
        and(
          eq(flights.id, p.id),
          eq(flights.revision, p.readRevision),
          eq(flights.oversold, p.readOversold),
          lte(sql`${flights.seats} - ${flights.seatsAvailable}`, p.mostSold),
        ),
      ),
  { contended: ({ id }) => ({ table: flightsTable, ids: [id] }) },
);

/** The cabins of a departure that are not cancelled. */
export const cabinsOf = statement<Departure>()((db, t, p) =>
  db
    .select()
    .from(t.flights)
    .where(and(departs(t, p), isNull(t.flights.cancelledAt))),
);

type Unsent = { readonly eventId: `evt_${string}` };

export const insertFlightEvent = statement<Unsent>()((db, { unsent }) =>
  db.insert(unsent).values(allColumns(unsent)),
);

export const unsentFlightEvents = statement<{ limit: number }>()((db, { unsent }, p) =>
  db.select().from(unsent).orderBy(asc(unsent.eventId)).limit(p.limit),
);

/** Touches no row if another instance has sent it. */
export const removeFlightEvent = statement<Unsent>()((db, { unsent }, p) =>
  db.delete(unsent).where(eq(unsent.eventId, p.eventId)),
);
