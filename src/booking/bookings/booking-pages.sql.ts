import { eq, type Placeholder, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import { columnsOf, encoded } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { paymentProblems } from "../events/event-types.ts";
import { bookingsTable, passengersTable } from "../model/booking.ts";
import { bookingColumns, type BookingOnFlight } from "../model/bookings.sql.ts";
import { flightsTable } from "../model/flight.ts";
import { paymentsTable } from "../model/payment.ts";

import type { BookingFilters } from "./booking-filters.ts";

const tables = {
  bookings: bookingsTable,
  passengers: passengersTable,
  flights: flightsTable,
  payments: paymentsTable,
};
type Tables = TablesOf<typeof tables>;

/** Bookings that another table selects. */
const selecting = [
  "found",
  "problem",
  "flight",
  "origin",
  "destination",
  "departsFrom",
  "departsTo",
] as const;
type BookingFilter =
  | "userId"
  | "contactEmail"
  | "status"
  | NonNullable<BookingFilters["payment"]>
  | (typeof selecting)[number]
  | "notDepartedBy"
  | "departedBy";

const onFlights =
  (term: (flights: Tables["flights"], value: Placeholder) => SQL) =>
  ({ bookings, flights }: Tables, value: Placeholder) =>
    sql`${bookings.flightId} in (select ${flights.id} from ${flights} where ${term(flights, value)})`;

/** Looks up the flight of each booking in turn: so many match that selecting them would take longer. */
const departed = (
  { bookings, flights: { id, departureTime, cancelledAt } }: Tables,
  value: Placeholder,
) =>
  sql`(select ${departureTime} <= ${encoded(value, departureTime)} and ${cancelledAt} is null from ${id.table} where ${id} = ${bookings.flightId})`;

/** Neither due to be refunded nor refunded: see `paymentState`. */
const settled = ({ status, refundDueMinor, refundedMinor }: Tables["bookings"]) =>
  sql`${refundDueMinor} <= ${refundedMinor} and (${refundedMinor} = 0 or ${status} <> 'cancelled')`;

const misfits = sql.raw(
  paymentProblems.map((problem) => `'${problem.slice("payment.".length)}'`).join(", "),
);

/**
 * `found`: a text from `foldedName` that is the booking's id or reference, its flight's number or a passenger's last
 * name. As a union, so that each part uses its own index. Drizzle omits table names where the outer query has one table.
 */
export const bookingPages = pagesOver(tables)<BookingOnFlight, BookingFilter>({
  table: ({ bookings, flights: { flightNumber: flight, origin, destination, departureTime } }) => {
    const { id, paidMinor, refundDueMinor, refundedMinor } = bookings;
    const states = {
      unpaid: paidMinor,
      paid: paidMinor,
      "at-booking": paidMinor,
      "refund-due": refundDueMinor,
      refunded: refundedMinor,
      problem: id,
    };
    const departs = {
      departsFrom: departureTime,
      departsTo: departureTime,
      notDepartedBy: departureTime,
      departedBy: departureTime,
    };
    const onFlight = { flight, origin, destination, ...departs };
    return { ...columnsOf(bookings), found: id, ...states, ...onFlight };
  },
  indexed: ["userId", "contactEmail", "refund-due"],
  selecting,
  conditions: {
    // Its index is on `lower(…)`.
    contactEmail: ({ bookings: { contactEmail } }, value, dialect) =>
      eq(dialect.lower(contactEmail), dialect.lower(value)),
    found: ({ bookings, flights, passengers }, text, dialect) =>
      sql`${bookings.id} in (select ${bookings.id} from ${bookings} where ${bookings.id} = ${text} or ${bookings.reference} = upper(${text})
          union select ${passengers.bookingId} from ${passengers} where coalesce(${passengers.lastNameFolded}, ${dialect.lower(passengers.lastName)}) = ${text}
          union select bookings.id from ${flights} inner join ${bookings} on bookings.flight_id = flights.id where flights.flight_number = upper(${text}))`,
    unpaid: ({ bookings }) =>
      sql`${settled(bookings)} and ${bookings.paidMinor} is null and ${bookings.expiresAt} is not null`,
    paid: ({ bookings }) => sql`${settled(bookings)} and ${bookings.paidMinor} is not null`,
    "at-booking": ({ bookings }) =>
      sql`${settled(bookings)} and ${bookings.paidMinor} is null and ${bookings.expiresAt} is null`,
    // As its partial index says.
    "refund-due": ({ bookings: { refundDueMinor, refundedMinor } }) =>
      sql`${refundDueMinor} > ${refundedMinor}`,
    refunded: ({ bookings: { status, refundDueMinor, refundedMinor } }) =>
      sql`${refundDueMinor} <= ${refundedMinor} and ${refundedMinor} > 0 and ${status} = 'cancelled'`,
    problem: ({ bookings, payments: { bookingId, outcome } }) =>
      sql`${bookings.id} in (select ${bookingId} from ${outcome.table} where ${outcome} in (${misfits}))`,
    flight: onFlights(({ flightNumber }, value) => sql`${flightNumber} = ${value}`),
    origin: onFlights(({ origin }, value) => sql`${origin} = ${value}`),
    destination: onFlights(({ destination }, value) => sql`${destination} = ${value}`),
    departsFrom: onFlights(({ departureTime: at }, value) => sql`${at} >= ${encoded(value, at)}`),
    departsTo: onFlights(({ departureTime: at }, value) => sql`${at} < ${encoded(value, at)}`),
    notDepartedBy: (t, value) => sql`not ${departed(t, value)}`,
    departedBy: departed,
  },
  select: (db, t) =>
    db
      .select(bookingColumns(t))
      .from(t.bookings)
      .innerJoin(t.flights, eq(t.flights.id, t.bookings.flightId)),
});
