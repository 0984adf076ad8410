import { MissingKeyError } from "../base/sealing.ts";
import type { Passenger } from "../booking/model/booking.ts";
import { bookingsByIds } from "../booking/model/bookings.sql.ts";
import { isBookingId } from "../booking/model/find-booking.ts";
import { maskedPassport, type PersonalDataOpener } from "../booking/personal-data/personal-data.ts";
import type { Storage } from "../db/storage.ts";
import { columnsOf } from "../db/table.ts";

import { linkedTables, type TableName } from "./links.ts";
import { batchSize, linkedRows, ownLinks, type Person } from "./person.ts";
import { linksBy, type LinkStatements, type Row } from "./persons.sql.ts";

/** The rows of a person, by table. */
export interface PersonRows {
  readonly rows: Readonly<Partial<Record<TableName, readonly Row[]>>>;
  /** False if a table has more rows than `maxRows`. */
  readonly isComplete: boolean;
}

export interface ExportOptions {
  readonly seal: PersonalDataOpener;
  /** Whether passports are shown in full, with birth dates. */
  readonly isRevealed: boolean;
  /** The only actor that is shown; null for all. */
  readonly onlyActor: string | null;
  /** The most rows of one table. */
  readonly maxRows: number;
}

/** Reads all rows of a person, without secrets. */
export async function exportRows(
  storage: Storage,
  person: Person,
  options: ExportOptions,
): Promise<PersonRows> {
  const collected = new Map<TableName, Map<string, Row>>();
  let isComplete = true;
  function collect({ name, key }: LinkStatements, rows: readonly Row[]): void {
    const known = collected.get(name) ?? new Map<string, Row>();
    collected.set(name, known);
    for (const row of rows) {
      const id = key.map((field) => String(row[field])).join("/");
      if (known.size < options.maxRows) known.set(id, shown(name, row, options));
      else isComplete &&= known.has(id);
    }
  }
  for (const link of linksBy(...ownLinks)) {
    for await (const rows of linkedRows(storage, link, person)) {
      if (!isComplete) break;
      collect(link, rows);
      if (link.name !== "bookings" || link.by !== "id") continue;
      const bookings = rows.map(({ id }) => String(id));
      for (const inner of linksBy("booking")) {
        for await (const found of linkedRows(storage, inner, person, bookings)) {
          collect(inner, found);
        }
      }
    }
  }
  const rows = Object.fromEntries(
    [...collected]
      .filter(([, found]) => found.size > 0)
      .map(([name, found]) => [name, [...found.values()]]),
  );
  return { rows: await withFlights(storage, rows), isComplete };
}

function shown(table: TableName, row: Row, options: ExportOptions): Row {
  const columns = columnsOf(linkedTables[table].definition);
  const isSecret = (name: string) =>
    columns.some(({ field, personal }) => field === name && personal === "secret");
  const entries = Object.entries(row).filter(
    ([name, value]) => !isSecret(name) && !(value instanceof Uint8Array),
  );
  const plain = Object.fromEntries(entries);
  const { onlyActor } = options;
  if (onlyActor !== null && "actor" in plain && plain["actor"] !== onlyActor) {
    return { ...plain, actor: null };
  }
  if (table !== "passengers") return plain;
  // Guarantee: these are rows of that table.
  return { ...plain, ...identityOf(row as unknown as Passenger, options) };
}

/** A passenger's identity, masked or in full. Nulls if the encryption key is missing. */
function identityOf(passenger: Passenger, { seal, isRevealed }: ExportOptions): Row {
  try {
    const { dateOfBirth, passportNumber } = seal.open(passenger);
    return isRevealed
      ? { dateOfBirth, passportNumber }
      : { passportNumber: maskedPassport(passportNumber) };
  } catch (error) {
    if (error instanceof MissingKeyError) return { dateOfBirth: null, passportNumber: null };
    throw error;
  }
}

/** Adds the flight to bookings and passengers, which have only ids of it. */
async function withFlights(
  storage: Storage,
  rows: PersonRows["rows"],
): Promise<PersonRows["rows"]> {
  const { bookings = [], passengers = [] } = rows;
  const all = [...bookings.map(({ id }) => id), ...passengers.map(({ bookingId }) => bookingId)];
  const ids = [...new Set(all.map(String))].filter(isBookingId);
  const flights = new Map<unknown, Row>();
  for (let from = 0; from < ids.length; from += batchSize) {
    const some = { ids: ids.slice(from, from + batchSize), userId: null };
    for (const { id, flight } of await storage.all(bookingsByIds, some)) {
      const { flightNumber, origin, destination, departureTime } = flight;
      flights.set(id, { flightNumber, origin, destination, departureTime });
    }
  }
  const add = (found: readonly Row[], id: string) =>
    found.map((row) => ({ ...row, flight: flights.get(row[id]) ?? null }));
  return {
    ...rows,
    ...(bookings.length > 0 && { bookings: add(bookings, "id") }),
    ...(passengers.length > 0 && { passengers: add(passengers, "bookingId") }),
  };
}
