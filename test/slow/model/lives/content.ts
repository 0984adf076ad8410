import type { TestedDatabase } from "../../harness/databases.ts";

/* What the database itself has, read by its own statements, not by those of the program. */

export interface FlightRow {
  id: number;
  seats: number;
  free: number;
  oversold: number;
  price: number;
  departs: number;
  cancelled: number | null;
}

export interface BookingRow {
  id: string;
  owner: string;
  flight: number;
  status: string;
  seats: number;
  total: number;
  charged: number;
  paid: number | null;
  due: number;
  refunded: number;
  kept: number;
  revision: number;
  created: number;
  expires: number | null;
  /** The number of passengers who fly. */
  flying: number;
  /** The number of open offers. */
  offers: number;
  /** The sum of the payments that counted. */
  received: number;
  /** Whether its flight has changed since it was booked. */
  outdated: number;
}

export interface OfferRow {
  id: string;
  booking: string;
  kind: string;
  status: string;
  revision: number;
  flight: number;
  /** The new flight; null for a cancellation. */
  to: number | null;
  seats: number;
  total: number;
  /** What is to be paid; less than 0: refunded. */
  change: number;
  kept: number;
  expires: number;
}

/** An event about a payment that was recorded. */
export interface PaymentRow {
  booking: string;
  /** The id of the payment. */
  reference: string | null;
  outcome: string;
  /** Null if it cannot be read. */
  minor: number | null;
  currency: string | null;
}

/** A refund that names no booking, of a payment that no booking has. */
interface WaitingRow {
  reference: string;
  minor: number;
}

export interface Content {
  flights: FlightRow[];
  bookings: BookingRow[];
  offers: OfferRow[];
  payments: PaymentRow[];
  waiting: WaitingRow[];
}

export const nothing: Content = {
  flights: [],
  bookings: [],
  offers: [],
  payments: [],
  waiting: [],
};

const open = "('offered', 'pending')";
const counted = (what: string) => `(select count(*) from ${what})`;
const queries = {
  flights: `select id, seats, seats_available as free, oversold, price_minor as price, departure_time as departs,
    cancelled_at as cancelled from flights order by id`,
  bookings: `select id, user_id as owner, flight_id as flight, status, seats, total_minor as total,
    charged_minor as charged, paid_minor as paid, refund_due_minor as due, refunded_minor as refunded,
    kept_minor as kept, revision, created_at as created, expires_at as expires,
    ${counted("passengers p where p.booking_id = b.id and p.cancelled_at is null")} as flying,
    ${counted(`booking_changes c where c.booking_id = b.id and c.status in ${open}`)} as offers,
    ${counted("flights f where f.id = b.flight_id and f.revision <> b.flight_revision")} as outdated,
    (select coalesce(sum(amount_minor), 0) from payments p where p.booking_id = b.id
      and p.outcome in ('confirmed', 'changed')) as received from bookings b order by id`,
  offers: `select id, booking_id as booking, kind, status, revision, flight_id as flight, new_flight_id as "to",
    seats, new_total_minor as total, change_total_minor as change, kept_minor as kept, expires_at as expires
    from booking_changes order by id`,
  payments: `select booking_id as booking, reference, outcome, amount_minor as minor, currency from payments`,
  waiting: `select reference, cast(notice as text) as notice from waiting_notices`,
};

/** Reads all. */
export async function read(database: TestedDatabase): Promise<Content> {
  const names = Object.keys(queries);
  const tables = await database.snapshot(Object.values(queries));
  // Guarantee: the queries have the columns of the rows.
  const content = Object.fromEntries(
    tables.map((rows, index) => [names[index], rows]),
  ) as unknown as Content;
  return { ...content, waiting: content.waiting.map(waitingOf) };
}

/** The notice is JSON, and read as text from each database. */
function waitingOf(row: { readonly reference: string; readonly notice?: string }): WaitingRow {
  const { amountMinor: minor }: { amountMinor: number } = JSON.parse(row.notice ?? "");
  return { reference: row.reference, minor };
}

const live = ["held", "confirmed"];
export const isLive = ({ status }: BookingRow) => live.includes(status);
export const isOpen = ({ status }: OfferRow) => status === "offered" || status === "pending";
const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);

/** What must hold in every state. Returns what does not. */
export function broken({ flights, bookings, offers }: Content): readonly string[] {
  const ofFlights = flights.flatMap(({ id, seats, free, oversold }) => {
    const sold = bookings.filter((one) => one.flight === id && isLive(one));
    const held = offers.filter((one) => one.to === id && isOpen(one));
    const inAll = free + sum([...sold, ...held].map((one) => one.seats));
    return inAll === seats && free >= -oversold ? [] : [`flight ${id}: ${inAll} of ${seats} seats`];
  });
  const ofBookings = bookings.flatMap((booking) => {
    const { id, status, seats, total, charged, paid, due, refunded, kept } = booking;
    const rules = {
      "refunded more than charged": refunded <= charged,
      "due and kept more than charged": due + kept <= charged,
      "costs more than it keeps": status !== "confirmed" || total <= charged - due,
      "a hold was charged": status !== "held" || charged === 0,
      "paid is not what was received": (paid ?? 0) === booking.received,
      "more goes out than came in": booking.expires === null || refunded <= booking.received,
      "passengers without seats": !isLive(booking) || booking.flying === seats,
      "two open offers": booking.offers <= 1,
      "an open offer without a booking": booking.offers === 0 || status !== "cancelled",
    };
    return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [`${id}: ${rule}`]));
  });
  return [...ofFlights, ...ofBookings];
}
