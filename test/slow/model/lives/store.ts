import { Database } from "bun:sqlite";
import { join } from "node:path";

import { postgresDatabase } from "../../../support/databases.ts";
import { removeFolder, temporaryFolder } from "../../../support/program.ts";

/* What the database itself has, read by its own statements, not by those of the program. */

type Row = Readonly<Record<string, unknown>>;

export interface Store {
  readonly url: string;
  /** The rows of queries at one moment. */
  snapshot(queries: readonly string[]): Promise<readonly (readonly Row[])[]>;
  close(): Promise<void>;
}

export async function openPostgres(): Promise<Store> {
  const database = await postgresDatabase();
  return {
    url: database.url,
    async snapshot(queries) {
      await database.run("begin isolation level repeatable read read only");
      const tables: Row[][] = [];
      for (const query of queries) tables.push(await database.run(query));
      await database.run("commit");
      return tables;
    },
    close: async () => database[Symbol.asyncDispose](),
  };
}

export async function openSqlite(): Promise<Store> {
  const folder = temporaryFolder();
  const file = join(folder, "lives.db");
  let reader: Database | null = null;
  return {
    url: `sqlite:${file}`,
    async snapshot(queries) {
      const database = (reader ??= new Database(file, { readonly: true }));
      return database.transaction(() =>
        queries.map((query) => database.query<Record<string, unknown>, []>(query).all()),
      )();
    },
    async close() {
      reader?.close();
      removeFolder(folder);
    },
  };
}

export interface FlightRow {
  readonly id: number;
  readonly seats: number;
  readonly free: number;
  readonly oversold: number;
  readonly price: number;
  readonly departs: number;
  readonly cancelled: number | null;
}

export interface BookingRow {
  readonly id: string;
  readonly owner: string;
  readonly flight: number;
  readonly status: string;
  readonly seats: number;
  readonly total: number;
  readonly charged: number;
  readonly paid: number | null;
  readonly due: number;
  readonly refunded: number;
  readonly kept: number;
  readonly revision: number;
  readonly created: number;
  readonly expires: number | null;
  /** The number of passengers who fly. */
  readonly flying: number;
  /** The number of open offers. */
  readonly offers: number;
  /** The sum of the payments that counted. */
  readonly received: number;
  /** Whether its flight has changed since it was booked. */
  readonly outdated: number;
}

export interface OfferRow {
  readonly id: string;
  readonly booking: string;
  readonly kind: string;
  readonly status: string;
  readonly revision: number;
  readonly flight: number;
  /** The new flight; null for a cancellation. */
  readonly to: number | null;
  readonly seats: number;
  readonly total: number;
  /** What is to be paid; less than 0: refunded. */
  readonly change: number;
  readonly kept: number;
  readonly expires: number;
}

export interface Content {
  readonly flights: readonly FlightRow[];
  readonly bookings: readonly BookingRow[];
  readonly offers: readonly OfferRow[];
}

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
};

const texts = new Set(["owner", "status", "booking", "kind"]);

/** Reads all. PostgreSQL returns large integers as texts. */
export async function read(store: Store): Promise<Content> {
  const names = Object.keys(queries);
  const tables = await store.snapshot(Object.values(queries));
  const content = tables.map((rows, index) => {
    const isText = (name: string) =>
      texts.has(name) || (name === "id" && names[index] !== "flights");
    const plain = rows.map((row) =>
      Object.entries(row).map(([name, value]) => [
        name,
        value === null || isText(name) ? value : Number(value),
      ]),
    );
    return [names[index], plain.map((fields) => Object.fromEntries(fields))];
  });
  // Guarantee: the queries have the columns of the rows.
  return Object.fromEntries(content) as Content;
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
