/** Capacity of a flight, less what is free, offered and sold: always 0. */
export const missingSeats = `select f.seats - f.seats_available
  - (select coalesce(sum(seats), 0) from bookings where flight_id = f.id and status in ('held', 'confirmed'))
  - (select coalesce(sum(seats), 0) from waitlist_entries where flight_id = f.id and status = 'offered') as missing
  from flights f where f.id = 1`;

/** Somebody waits, before entry `place`, for at most so many seats. */
const waits = (seats: string, now: string, place: string) =>
  `exists (select 1 from waitlist_entries w where w.flight_id = new.flight_id and w.status = 'waiting'
    and w.until > ${now} and w.place < ${place} and w.seats <= ${seats})`;
const free = "(select seats_available from flights where id = new.flight_id)";

/**
 * What the database itself notes as a jump of the line, whatever the program says. An offer: somebody before it in line
 * fits into its seats and those that are left. A booking: somebody in line fits into the seats that were free before,
 * and it takes no offer.
 */
const jumps = {
  offer: `new.status = 'offered' and old.status = 'waiting'
    and ${waits(`${free} + new.seats`, "new.updated_at", "new.place")}`,
  sale: `${waits(`${free} + new.seats`, "new.created_at", "1000000000")}
    and not exists (select 1 from waitlist_entries w where w.flight_id = new.flight_id
      and w.user_id = new.user_id and w.status = 'booked' and w.updated_at = new.created_at)`,
};

const noted = (what: keyof typeof jumps) =>
  `insert into jumps select '${what} ' || new.id where ${jumps[what]}`;

/** The statements that make the database note jumps. */
export const refereeOf: Readonly<Record<"sqlite" | "postgres", readonly string[]>> = {
  sqlite: [
    "create table jumps (what text not null) strict",
    `create trigger note_offer after update on waitlist_entries begin ${noted("offer")}; end`,
    `create trigger note_sale after insert on bookings begin ${noted("sale")}; end`,
  ],
  postgres: [
    "create table jumps (what text not null)",
    ...(["offer", "sale"] as const).map(
      (what) =>
        `create function note_${what}() returns trigger language plpgsql as $$ begin ${noted(what)}; return null; end $$`,
    ),
    "create trigger note_offer after update on waitlist_entries for each row execute function note_offer()",
    "create trigger note_sale after insert on bookings for each row execute function note_sale()",
  ],
};
