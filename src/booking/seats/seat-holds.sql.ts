import { and, asc, eq, lte, sql } from "drizzle-orm";

import { allColumns, encoded, statementsOver } from "../../db/statement.ts";
import { flightsTable } from "../model/flight.ts";
import { type SeatHold, seatHoldsTable } from "../model/seat-hold.ts";

const statement = statementsOver({ holds: seatHoldsTable, flights: flightsTable });

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

type Held = Pick<SeatHold, "bookingId" | "purpose">;

export const deleteHold = statement<Held>()((db, { holds }, p) =>
  db.delete(holds).where(and(eq(holds.bookingId, p.bookingId), eq(holds.purpose, p.purpose))),
);

export const extendHold = statement<Held & Pick<SeatHold, "expiresAt">>()((db, { holds }, p) =>
  db
    .update(holds)
    .set({ expiresAt: p.expiresAt })
    .where(and(eq(holds.bookingId, p.bookingId), eq(holds.purpose, p.purpose))),
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

/** The hold that is due next. */
export const nextHold = statement()((db, { holds }) =>
  db.select().from(holds).orderBy(asc(holds.expiresAt)).limit(1),
);
