import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { isId, type MakeId } from "../base/ids.ts";
import { type Write, write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { Erasures } from "../identity/users/erasures.ts";
import { deleteDeliveriesTo } from "../outbound/deliveries.sql.ts";

import type { TableName } from "./links.ts";
import { batchSize, ownLinks, type Person, valuesOf } from "./person.ts";
import { linksBy, openBookings, type Row } from "./persons.sql.ts";

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly erasures: Pick<Erasures, "add">;
}

/** The number of rows that were deleted or rewritten, by table. */
export type ErasedCounts = Readonly<Partial<Record<TableName, number>>>;

/** Throws `open-bookings` if the person has a booking that is neither flown nor cancelled. */
async function requireNoOpenBooking(
  { storage, clock }: Pick<Parts, "storage" | "clock">,
  person: Person,
): Promise<void> {
  const values = { ...valuesOf(person, [], 1), now: new Date(clock.now()) };
  for (const statement of openBookings) {
    const [open] = await storage.all(statement, values);
    if (open === undefined) continue;
    const detail = `Booking ${open.reference} is for a flight that departs at ${open.departureTime.toISOString()}. Cancel it first, or wait until it has departed.`;
    throw new AppError("open-bookings", detail);
  }
}

/**
 * Deletes the rows of a person, or rewrites those that accounting needs, in batches. Repeatable: what was interrupted is
 * done again. Throws `open-bookings`, and erases nothing then.
 */
export async function eraseRows(parts: Parts, person: Person): Promise<ErasedCounts> {
  const { storage } = parts;
  await requireNoOpenBooking(parts, person);
  // From now on, no token of the user is accepted, so nothing is added under the ids. If a booking was added just before,
  // only an admin can cancel it.
  for (const id of person.ids) await parts.erasures.add(id);
  await requireNoOpenBooking(parts, person);
  /** Stands for the person in what stays. Nothing stores whom it stands for. */
  const pseudonym = parts.makeId("erased", parts.clock.now());
  const counts: Partial<Record<TableName, number>> = {};
  for (const link of linksBy(...ownLinks)) {
    const { name, by } = link;
    if (by === "email" && person.email === null) continue;
    for (let isDone = link.erasing === null; !isDone;) {
      const rows = await storage.all(link.first, valuesOf(person, [], batchSize), "long");
      // Exactly these rows, even if others are stored meanwhile.
      const values = { ...valuesOf(person, idsIn(rows), rows.length), pseudonym };
      const inner = by === "id" && name === "bookings" ? linksBy("booking") : [];
      const writes = [...inner, link].flatMap((each) =>
        each.erasing === null ? [] : [{ name: each.name, write: write(each.erasing, values) }],
      );
      const results = await storage.atomically(
        ...(name === "destinations" ? deliveriesTo(rows) : []),
        ...writes.map((each) => each.write),
      );
      for (const [index, { changes }] of results.slice(-writes.length).entries()) {
        const of = writes[index]?.name ?? name;
        if (changes > 0) counts[of] = (counts[of] ?? 0) + changes;
      }
      isDone = rows.length < batchSize || results.at(-1)?.changes === 0;
    }
  }
  return counts;
}

function idsIn(rows: readonly Row[]): readonly string[] {
  return rows.map(({ id }) => String(id));
}

function deliveriesTo(destinations: readonly Row[]): readonly Write<never>[] {
  return idsIn(destinations)
    .filter((id) => isId("dst", id))
    .map((destinationId) => write(deleteDeliveriesTo, { destinationId }));
}
