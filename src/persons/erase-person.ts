import type { Clock } from "../base/clock.ts";
import { commandPrefix, consolePrefix } from "../base/context.ts";
import { AppError } from "../base/errors.ts";
import { isId, type MakeId } from "../base/ids.ts";
import { type Write, write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { EndedAccess } from "../identity/users/ended-access.ts";
import { tombstones } from "../identity/users/erasures.ts";
import { changedMeanwhile, retryIfChanged } from "../inbound/receive/effects.ts";
import { deleteDeliveriesTo } from "../outbound/model/deliveries.sql.ts";

import type { TableName } from "./links.ts";
import { batchSize, ownLinks, type Person, valuesOf } from "./person.ts";
import { linksBy, openBookings, requireNoneOpen, type Row } from "./persons.sql.ts";

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly ended: Pick<EndedAccess, "refresh">;
}

/** The number of rows that were deleted or rewritten, by table. */
export type ErasedCounts = Readonly<Partial<Record<TableName, number>>>;

/** All bookings of the person that are neither flown nor cancelled. `values`: with the time as `now`. */
export async function openBookingsOf(storage: Pick<Storage, "all">, values: Row) {
  const found = await Promise.all(openBookings.map((each) => storage.all(each, values, "long")));
  // By reference: a booking may be found by several of them.
  return [...new Map(found.flat().map((each) => [each.reference, each])).values()];
}

/** Throws `open-bookings`, which names all that are open. */
async function requireNoOpenBooking({ storage }: Pick<Parts, "storage">, values: Row) {
  const open = await openBookingsOf(storage, values);
  if (open.length === 0) return;
  const named = open.map(
    ({ reference, departureTime }) => `${reference} (departs ${departureTime.toISOString()})`,
  );
  const detail = `Open bookings: ${named.join(", ")}. Cancel them first, or wait until they have departed.`;
  throw new AppError("open-bookings", detail);
}

/**
 * Deletes the rows of a person, or rewrites those that accounting needs, in batches. Repeatable: what was interrupted is
 * done again. `entry`: stored with what is erased first. Throws `open-bookings`, and `not-found` if there is no row of the
 * person, and erases nothing then.
 */
export async function eraseRows(
  parts: Parts,
  person: Person,
  entry: Write<unknown>,
): Promise<ErasedCounts> {
  const { storage } = parts;
  const begun = [entry];
  const signedIn = person.ids.filter((id) => !isLabel(id));
  await retryIfChanged(async () => {
    const open = { ...valuesOf(person, [], 1), now: new Date(parts.clock.now()) };
    await requireNoOpenBooking(parts, open);
    if (signedIn.length === 0) return;
    // From now on, nothing is written in the name of the user. What was written just before is seen here.
    const guard = write(requireNoneOpen, open, changedMeanwhile);
    const erased = tombstones(signedIn, new Date(parts.clock.now()));
    await storage.atomically(...begun, guard, ...erased);
    await parts.ended.refresh();
    begun.length = 0;
  });
  /** Stands for the person in what stays. Nothing stores whom it stands for. */
  const pseudonym = parts.makeId("erased", parts.clock.now());
  const counts: Partial<Record<TableName, number>> = {};
  for (const link of linksBy(...ownLinks)) {
    const { name, by } = link;
    if (by === "email" && person.email === null) continue;
    for (let isDone = link.erasing === null; !isDone;) {
      const rows = await storage.all(link.first, valuesOf(person, [], batchSize), "long");
      if (rows.length === 0) break;
      // Exactly these rows, even if others are stored meanwhile.
      const values = { ...valuesOf(person, idsIn(rows), rows.length), pseudonym };
      const inner = by === "id" && name === "bookings" ? linksBy("booking") : [];
      // Bookings first: what changes them commits before, and is seen.
      const writes = [link, ...inner].flatMap((each) =>
        each.erasing === null ? [] : [{ name: each.name, write: write(each.erasing, values) }],
      );
      const before = name === "destinations" ? deliveriesTo(rows) : [];
      const done = await storage.atomically(
        ...before,
        ...writes.map((each) => each.write),
        ...begun.splice(0),
      );
      const results = done.slice(before.length);
      for (const [index, { name: of }] of writes.entries()) {
        const changes = results[index]?.changes ?? 0;
        if (changes > 0) counts[of] = (counts[of] ?? 0) + changes;
      }
      isDone = rows.length < batchSize || results[0]?.changes === 0;
    }
  }
  if (begun.length > 0) throw new AppError("not-found", "Nothing is stored about this person");
  return counts;
}

/** The name in a link or of who runs a command has no token, and may be used again. */
function isLabel(id: string): boolean {
  return id.startsWith(consolePrefix) || id.startsWith(commandPrefix);
}

function idsIn(rows: readonly Row[]): readonly string[] {
  return rows.map(({ id }) => String(id));
}

function deliveriesTo(destinations: readonly Row[]): readonly Write<never>[] {
  return idsIn(destinations)
    .filter((id) => isId("dst", id))
    .map((destinationId) => write(deleteDeliveriesTo, { destinationId }));
}
