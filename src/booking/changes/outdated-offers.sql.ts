import { type SQL, sql } from "drizzle-orm";

import { type Dialect, type Parameters, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type BookingChange, bookingChangesTable } from "../model/booking-change.ts";
import { type Flight, flightsTable } from "../model/flight.ts";
import { seatHoldsTable } from "../model/seat-hold.ts";

const tables = { flights: flightsTable, offers: bookingChangesTable, holds: seatHoldsTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

interface Changed {
  /** The flights that an import changed. */
  readonly flightIds: readonly Flight["id"][];
}

/** Matches open offers from or to them. Other transactions that end an offer lock its flights first. */
function isOutdated({ offers }: Tables, p: Parameters<Changed>, dialect: Dialect): SQL {
  const { status, flightId, newFlightId } = offers;
  return sql`${status} in ('offered', 'pending') and (${dialect.among(flightId, p.flightIds)} or ${dialect.among(newFlightId, p.flightIds)})`;
}

function isHeldByOutdated(t: Tables, p: Parameters<Changed>, dialect: Dialect): SQL {
  const { offers, holds } = t;
  return sql`${holds.purpose} = 'change' and ${holds.bookingId} in (select ${offers.bookingId} from ${offers} where ${isOutdated(t, p, dialect)})`;
}

/** Gives back the seats that offers hold. Run it before the others. */
export const giveOutdatedBack = statement<Changed>()((db, t, p, dialect) => {
  const { id, seatsAvailable } = t.flights;
  const { holds } = t;
  const outdated = isHeldByOutdated(t, p, dialect);
  const held = sql`(select sum(${holds.seats}) from ${holds} where ${holds.flightId} = ${id} and ${outdated})`;
  return db
    .update(t.flights)
    .set({ seatsAvailable: sql`${seatsAvailable} + ${held}` })
    .where(sql`${id} in (select ${holds.flightId} from ${holds} where ${outdated})`);
});

export const deleteOutdatedHolds = statement<Changed>()((db, t, p, dialect) =>
  db.delete(t.holds).where(isHeldByOutdated(t, p, dialect)),
);

export const withdrawOutdated = statement<Changed & Pick<BookingChange, "updatedAt">>()(
  (db, t, p, dialect) =>
    db
      .update(t.offers)
      .set({ status: "withdrawn", updatedAt: p.updatedAt })
      .where(isOutdated(t, p, dialect)),
);
