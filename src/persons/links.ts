import type { Definition, TableDefinition } from "../db/table.ts";
import { tables } from "../schema/schema.ts";

/**
 * What of a person a column holds: one of the ids, the e-mail address, the id of one of their own bookings, or the scope
 * of their idempotency keys.
 */
export type LinkKind = "id" | "email" | "booking" | "scope";

/** A column that makes a row one of a person, and what erasing does with the row. */
export interface Link {
  readonly by: LinkKind;
  readonly column: string;
  /** An object: the row stays, without the person in these columns. */
  readonly erase: "delete" | "keep" | Readonly<Record<string, "pseudonym" | "no address">>;
}

export interface LinkedTable {
  readonly definition: Definition;
  readonly links: readonly Link[];
}

type FieldOf<Defined> = Defined extends TableDefinition<infer Row> ? keyof Row & string : never;

function linked<const Defined extends Definition>(
  definition: Defined,
  links: readonly (Link & { readonly column: FieldOf<Defined> })[],
): LinkedTable {
  return { definition, links };
}

const ofBooking = { by: "booking", column: "bookingId" } as const;

/**
 * The tables with rows of persons. Exports and erasures are made from them. Rows are erased in this order; users come
 * last, so that an erasure that was interrupted finds its person again.
 */
export const linkedTables = {
  bookings: linked(tables.bookings, [
    { by: "id", column: "userId", erase: { userId: "pseudonym", contactEmail: "no address" } },
    { by: "email", column: "contactEmail", erase: { contactEmail: "no address" } },
  ]),
  passengers: linked(tables.passengers, [
    { ...ofBooking, erase: "delete" },
    { by: "email", column: "email", erase: "delete" },
  ]),
  payments: linked(tables.payments, [{ ...ofBooking, erase: "keep" }]),
  // Offers before their holds, as other transactions lock them.
  bookingChanges: linked(tables.bookingChanges, [{ ...ofBooking, erase: { userId: "pseudonym" } }]),
  seatHolds: linked(tables.seatHolds, [{ ...ofBooking, erase: { userId: "pseudonym" } }]),
  disclosures: linked(tables.disclosures, [{ ...ofBooking, erase: "keep" }]),
  idempotency: linked(tables.idempotency, [{ by: "scope", column: "scope", erase: "delete" }]),
  sessions: linked(tables.sessions, [{ by: "id", column: "actor", erase: "delete" }]),
  // The deliveries of a user go with the destination.
  destinations: linked(tables.destinations, [{ by: "id", column: "ownerId", erase: "delete" }]),
  audit: linked(tables.audit, [
    { by: "id", column: "actor", erase: { actor: "pseudonym" } },
    { by: "id", column: "subject", erase: { subject: "pseudonym" } },
  ]),
  replays: linked(tables.replays, [{ by: "id", column: "actor", erase: { actor: "pseudonym" } }]),
  users: linked(tables.users, [
    { by: "id", column: "id", erase: "delete" },
    { by: "email", column: "email", erase: "delete" },
  ]),
} as const satisfies Partial<Record<keyof typeof tables, LinkedTable>>;

export type TableName = keyof typeof linkedTables;
