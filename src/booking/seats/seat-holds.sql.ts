import { and, asc, eq, gt, lte, sql } from "drizzle-orm";

import { allColumns, encoded, type Parameters, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { flightsTable } from "../model/flight.ts";
import { type SeatHold, seatHoldsTable } from "../model/seat-hold.ts";

const tables = { holds: seatHoldsTable, flights: flightsTable };
const statement = statementsOver(tables);

/** The database rejects a second hold of a booking with the same purpose. */
export const insertHold = statement<SeatHold>()((db, { holds }) =>
  db.insert(holds).values(allColumns(holds)),
);

/**
 * Returns a row if the user has fewer holds of seats on the flight than `limit`. Run it after the seats are taken, which makes
 * concurrent sales of one flight wait for each other.
 */
export const mayHold = statement<Pick<SeatHold, "flightId" | "userId"> & { limit: number }>()((
  db,
  { holds, flights },
  p,
) => {
  const held = sql`(select count(*) from ${holds} where ${holds.flightId} = ${p.flightId} and ${holds.userId} = ${p.userId} and ${holds.seats} > 0)`;
  return db
    .select({ id: flights.id })
    .from(flights)
    .where(and(eq(flights.id, p.flightId), sql`${held} < ${p.limit}`));
});

/** The key of a hold. */
type Held = Pick<SeatHold, "bookingId" | "purpose">;

function isHold(holds: TablesOf<typeof tables>["holds"], p: Parameters<Held>) {
  return and(eq(holds.bookingId, p.bookingId), eq(holds.purpose, p.purpose));
}

/**
 * Gives the seats of a hold back to its flight. Run it before `deleteHold`: without the hold it touches no row, so seats are
 * given back only once.
 */
export const giveHeldBack = statement<Held & Pick<SeatHold, "flightId">>()(
  (db, { holds, flights }, p) => {
    const held = sql`select ${holds.seats} from ${holds} where ${isHold(holds, p)} and ${holds.flightId} = ${p.flightId}`;
    return db
      .update(flights)
      .set({ seatsAvailable: sql`${flights.seatsAvailable} + (${held})` })
      .where(and(eq(flights.id, p.flightId), sql`exists (${held})`));
  },
  { contended: ({ flightId }) => ({ table: flightsTable, ids: [flightId] }) },
);

export const resizeHold = statement<Held & Pick<SeatHold, "seats">>()((db, { holds }, p) =>
  db.update(holds).set({ seats: p.seats }).where(isHold(holds, p)),
);

export const deleteHold = statement<Held>()((db, { holds }, p) =>
  db.delete(holds).where(isHold(holds, p)),
);

export const extendHold = statement<Held & Pick<SeatHold, "expiresAt">>()((db, { holds }, p) =>
  db.update(holds).set({ expiresAt: p.expiresAt }).where(isHold(holds, p)),
);

/** Holds that are due, oldest first. */
export const expiredHolds = statement<{ now: Date; limit: number }>()((db, { holds }, p) =>
  db
    .select()
    .from(holds)
    .where(lte(holds.expiresAt, encoded(p.now, holds.expiresAt)))
    .orderBy(asc(holds.expiresAt))
    .limit(p.limit),
);

/** A hold of seats that may be paid: not an offer to cancel passengers. */
export const anyHeldSeats = statement()((db, { holds }) =>
  db
    .select()
    .from(holds)
    .where(gt(holds.seats, sql`0`))
    .limit(1),
);

/** The hold that is due next. */
export const nextHold = statement()((db, { holds }) =>
  db.select().from(holds).orderBy(asc(holds.expiresAt)).limit(1),
);
