import { asc, desc, eq, gte, sql } from "drizzle-orm";

import { keyIdBytes } from "../../base/sealing.ts";
import { allColumns, statementsOver } from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";
import { type Passenger, passengersTable } from "../model/booking.ts";

import { type Disclosure, disclosuresTable } from "./disclosure.ts";

const tables = { passengers: passengersTable, disclosures: disclosuresTable };
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

export const passengersOf = statement<Pick<Passenger, "bookingId">>()((db, { passengers }, p) =>
  db
    .select()
    .from(passengers)
    .where(eq(passengers.bookingId, p.bookingId))
    .orderBy(asc(passengers.position)),
);

/** The first passengers of bookings with this id or a later one. Ids sort by creation time. */
export const sealedFrom = statement<Pick<Passenger, "bookingId"> & { limit: number }>()(
  (db, { passengers }, p) =>
    db
      .select(sealedColumns(passengers))
      .from(passengers)
      .where(gte(passengers.bookingId, p.bookingId))
      .orderBy(asc(passengers.bookingId), asc(passengers.position))
      .limit(p.limit),
);

/** The passengers of the newest bookings, newest first. */
export const newestSealed = statement<{ limit: number }>()((db, { passengers }, p) =>
  db
    .select(sealedColumns(passengers))
    .from(passengers)
    .orderBy(desc(passengers.bookingId), desc(passengers.position))
    .limit(p.limit),
);

/** For each encryption key, the passengers of its first booking. Reads the whole table. */
export const sealedByEachKey = statement()((db, { passengers }) => {
  const { bookingId, sealed } = passengers;
  const keyId = sql`substr(${sealed}, 1, ${sql.raw(String(keyIdBytes))})`;
  const firsts = sql`(select min(${bookingId}) from ${passengers} group by ${keyId})`;
  return db
    .select(sealedColumns(passengers))
    .from(passengers)
    .where(sql`${bookingId} in ${firsts}`)
    .orderBy(asc(bookingId), asc(passengers.position));
});

function sealedColumns({ bookingId, position, sealed }: Tables["passengers"]) {
  return { bookingId, position, sealed };
}

export const insertDisclosure = statement<Disclosure>()((db, { disclosures }) =>
  db.insert(disclosures).values(allColumns(disclosures)),
);

export const disclosuresOf = statement<Pick<Disclosure, "bookingId">>()((db, { disclosures }, p) =>
  db
    .select()
    .from(disclosures)
    .where(eq(disclosures.bookingId, p.bookingId))
    .orderBy(asc(disclosures.createdAt)),
);
