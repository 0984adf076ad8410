import { and, eq, gt, isNull, lte, type Placeholder, type SQL, sql } from "drizzle-orm";

import {
  encoded,
  type Parameters,
  rowsFrom,
  type Sql,
  statementsOver,
} from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type BookingChange, bookingChangesTable } from "../booking-change.ts";
import { bookingsTable } from "../booking.ts";
import {
  type FlightChange,
  flightChangeNoticesTable,
  flightChangesTable,
} from "../flight-change.ts";
import { type Flight, type FlightPlan, flightsTable } from "../flight.ts";

const tables = {
  flights: flightsTable,
  bookings: bookingsTable,
  changes: flightChangesTable,
  notices: flightChangeNoticesTable,
  offers: bookingChangesTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** What identifies a flight in a file. */
export type FlightKey = Pick<Flight, "flightNumber" | "departureTime" | "cabinClass">;

export const flightByKey = statement<FlightKey>()((db, t, p) =>
  db.select().from(t.flights).where(hasKey(t, p)).limit(1),
);

/** Returns a row if the flight was moved from a departure to another one. */
export const recordedMove = statement<
  Pick<FlightChange, "flightId" | "previousDepartureTime" | "departureTime">
>()((db, { changes }, p) =>
  db
    .select({ id: changes.id })
    .from(changes)
    .where(
      and(
        eq(changes.flightId, p.flightId),
        eq(changes.departureTime, encoded(p.departureTime, changes.departureTime)),
        eq(
          changes.previousDepartureTime,
          encoded(p.previousDepartureTime, changes.previousDepartureTime),
        ),
      ),
    )
    .limit(1),
);

type Recorded = Pick<FlightChange, "id" | "createdAt">;
/** Moves below this many milliseconds are small. */
type Change = Recorded & FlightPlan & { readonly smallMs: number };

/** Records what a plan changes of its flight, if the flight has bookings or holds seats of an offer, and has not departed. */
export const recordUpdate = statement<Change>()((db, t, p) => {
  const { arrivalTime, origin, destination } = t.flights;
  const differs = sql`(${arrivalTime} <> ${encoded(p.arrivalTime, arrivalTime)} or ${origin} <> ${p.origin} or ${destination} <> ${p.destination})`;
  // Not `exists`, which SQLite makes a join that takes 50 µs.
  const isBooked = sql`(select 1 from ${t.bookings} where ${t.bookings.flightId} = ${t.flights.id} and ${hasSeats(t)} limit 1) is not null`;
  const isOffered = sql`(select 1 from ${t.offers} where ${t.offers.newFlightId} = ${t.flights.id} and ${isOpen(t)} limit 1) is not null`;
  const isAffected = sql`(${isBooked} or ${isOffered})`;
  const isAhead = gt(t.flights.departureTime, encoded(p.createdAt, t.flights.departureTime));
  return recorded(db, t, p, hasKey(t, p), isChangeable(t, p.seats), isAhead, differs, isAffected);
});

/** Records that a flight moves to the times and airports of a plan. */
export const recordMove = statement<Change & { readonly flightId: Flight["id"] }>()((db, t, p) =>
  recorded(db, t, p, eq(t.flights.id, p.flightId), isChangeable(t, p.seats)),
);

function recorded(db: Sql, t: Tables, p: Parameters<Change>, ...conditions: (SQL | undefined)[]) {
  const { origin, destination } = t.flights;
  const moved = (field: "departureTime" | "arrivalTime") =>
    sql`abs(${t.flights[field]} - ${encoded(p[field], t.flights[field])}) >= ${p.smallMs}`;
  const asksOwners = sql`(${origin} <> ${p.origin} or ${destination} <> ${p.destination} or ${moved("departureTime")} or ${moved("arrivalTime")})`;
  const values = {
    ...before(t, p, "flight.changed"),
    departureTime: encoded(p.departureTime, t.flights.departureTime),
    arrivalTime: encoded(p.arrivalTime, t.flights.arrivalTime),
    origin: sql`${p.origin}`,
    destination: sql`${p.destination}`,
    asksOwners,
  };
  const rest = sql`from ${t.flights} where ${and(...conditions)}`;
  return db.insert(t.changes).select(rowsFrom(t.changes, values, rest));
}

export const recordCancellation = statement<Recorded & { readonly flightId: Flight["id"] }>()((
  db,
  t,
  p,
) => {
  const { id, departureTime, arrivalTime, origin, destination, cancelledAt } = t.flights;
  const after = { departureTime, arrivalTime, origin, destination, asksOwners: sql`true` };
  const rest = sql`from ${t.flights} where ${id} = ${p.flightId} and ${cancelledAt} is null`;
  const values = { ...before(t, p, "flight.cancelled"), ...after };
  return db.insert(t.changes).select(rowsFrom(t.changes, values, rest));
});

function before({ flights, changes }: Tables, p: Parameters<Recorded>, type: FlightChange["type"]) {
  return {
    id: sql`${p.id}`,
    flightId: flights.id,
    type: sql.raw(`'${type}'`),
    previousDepartureTime: flights.departureTime,
    previousArrivalTime: flights.arrivalTime,
    previousOrigin: flights.origin,
    previousDestination: flights.destination,
    createdAt: encoded(p.createdAt, changes.createdAt),
  };
}

const contended = ({ flightId }: { readonly flightId: Flight["id"] }) => ({
  table: flightsTable,
  ids: [flightId],
});

/** Moves a flight, if it still departs as read. Touches no row if more seats are sold than the plan has. */
export const moveFlight = statement<
  FlightPlan & Pick<FlightChange, "flightId" | "previousDepartureTime">
>()(
  (db, t, p) => {
    const { flights } = t;
    return db
      .update(flights)
      .set({
        airline: p.airline,
        origin: p.origin,
        destination: p.destination,
        departureTime: p.departureTime,
        arrivalTime: p.arrivalTime,
        seats: p.seats,
        seatsAvailable: sql`${p.seats} - (${flights.seats} - ${flights.seatsAvailable})`,
        priceMinor: p.priceMinor,
        currency: p.currency,
      })
      .where(
        and(
          eq(flights.id, p.flightId),
          eq(flights.departureTime, encoded(p.previousDepartureTime, flights.departureTime)),
          isChangeable(t, p.seats),
        ),
      );
  },
  { contended },
);

/** Removes a flight from sale. Touches no row if it was. */
export const cancelFlight = statement<
  Pick<FlightChange, "flightId"> & { readonly cancelledAt: Date }
>()(
  (db, { flights }, p) =>
    db
      .update(flights)
      .set({ cancelledAt: p.cancelledAt })
      .where(and(eq(flights.id, p.flightId), isNull(flights.cancelledAt))),
  { contended },
);

/** Matches open offers from or to a flight that the import changed. Other transactions that end an offer lock its flights first. */
function isOutdated({ changes, offers }: Tables, p: Parameters<Recorded>): SQL {
  const changed = sql`(select ${changes.flightId} from ${changes} where ${changes.createdAt} = ${encoded(p.createdAt, changes.createdAt)} and ${changes.id} >= ${p.id})`;
  return sql`${isOpen({ offers })} and (${offers.flightId} in ${changed} or ${offers.newFlightId} in ${changed})`;
}

/** Gives back the seats that offers hold from or to the flights that the import changed. Run it before `endOffers`. */
export const giveOfferedBack = statement<Recorded>()((db, t, p) => {
  const { id, seatsAvailable } = t.flights;
  const { seats, newFlightId } = t.offers;
  const held = sql`(select sum(${seats}) from ${t.offers} where ${newFlightId} = ${id} and ${isOutdated(t, p)})`;
  return db
    .update(t.flights)
    .set({ seatsAvailable: sql`${seatsAvailable} + ${held}` })
    .where(sql`${id} in (select ${newFlightId} from ${t.offers} where ${isOutdated(t, p)})`);
});

/** Ends the offers from or to the flights that the import changed: their times or their price may be wrong now. */
export const endOffers = statement<Recorded & Pick<BookingChange, "updatedAt">>()((db, t, p) =>
  db.update(t.offers).set({ status: "withdrawn", updatedAt: p.updatedAt }).where(isOutdated(t, p)),
);

/** Stores the bookings that the changes of one import affect: those from `id` on, whose ids are in order. Run it after the flights were updated, which locks them. */
export const insertNotices = statement<Recorded>()((db, t, p) => {
  const { changes, bookings, notices } = t;
  const values = {
    changeId: changes.id,
    bookingId: bookings.id,
    status: sql`case when ${changes.asksOwners} then 'unanswered' else 'notified' end`,
    createdAt: changes.createdAt,
    notifiedAt: sql`null`,
    answeredAt: sql`null`,
    answeredBy: sql`null`,
  };
  const rest = sql`from ${changes} inner join ${bookings} on ${bookings.flightId} = ${changes.flightId} where ${changes.createdAt} = ${encoded(p.createdAt, changes.createdAt)} and ${changes.id} >= ${p.id} and ${hasSeats(t)}`;
  return db
    .insert(notices)
    .select(rowsFrom(notices, values, rest))
    .onConflictDoNothing();
});

function hasKey({ flights }: Tables, p: Parameters<FlightKey>): SQL | undefined {
  return and(
    eq(flights.flightNumber, p.flightNumber),
    eq(flights.departureTime, encoded(p.departureTime, flights.departureTime)),
    eq(flights.cabinClass, p.cabinClass),
  );
}

function isChangeable({ flights }: Tables, seats: Placeholder): SQL | undefined {
  return and(
    isNull(flights.cancelledAt),
    lte(sql`${flights.seats} - ${flights.seatsAvailable}`, seats),
  );
}

const hasSeats = ({ bookings }: Tables) => sql`${bookings.status} in ('held', 'confirmed')`;

const isOpen = ({ offers }: Pick<Tables, "offers">) =>
  sql`${offers.status} in ('offered', 'pending')`;
