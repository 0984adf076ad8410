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
  /** The fields that order and identify the rows. */
  readonly key: readonly string[];
  readonly links: readonly Link[];
}

type FieldOf<Defined> = Defined extends TableDefinition<infer Row> ? keyof Row & string : never;

function linked<const Defined extends Definition>(
  definition: Defined,
  key: readonly FieldOf<Defined>[],
  links: readonly (Link & { readonly column: FieldOf<Defined> })[],
): LinkedTable {
  return { definition, key, links };
}

const ofBooking = { by: "booking", column: "bookingId" } as const;

/**
 * The tables with rows of persons. Exports and erasures are made from them. Rows are erased in this order; users come
 * last, so that an erasure that was interrupted finds its person again.
 */
export const linkedTables = {
  bookings: linked(
    tables.bookings,
    ["id"],
    [
      { by: "id", column: "userId", erase: { userId: "pseudonym", contactEmail: "no address" } },
      { by: "email", column: "contactEmail", erase: { contactEmail: "no address" } },
    ],
  ),
  passengers: linked(
    tables.passengers,
    ["bookingId", "position"],
    [
      { ...ofBooking, erase: "delete" },
      { by: "email", column: "email", erase: "delete" },
    ],
  ),
  payments: linked(tables.payments, ["eventId"], [{ ...ofBooking, erase: "keep" }]),
  seatHolds: linked(
    tables.seatHolds,
    ["bookingId", "purpose"],
    [{ ...ofBooking, erase: { userId: "pseudonym" } }],
  ),
  bookingChanges: linked(
    tables.bookingChanges,
    ["id"],
    [{ ...ofBooking, erase: { userId: "pseudonym" } }],
  ),
  disclosures: linked(tables.disclosures, ["id"], [{ ...ofBooking, erase: "keep" }]),
  idempotency: linked(
    tables.idempotency,
    ["scope", "key"],
    [{ by: "scope", column: "scope", erase: "delete" }],
  ),
  sessions: linked(tables.sessions, ["id"], [{ by: "id", column: "actor", erase: "delete" }]),
  // The deliveries of a user go with the destination.
  destinations: linked(
    tables.destinations,
    ["id"],
    [{ by: "id", column: "ownerId", erase: "delete" }],
  ),
  audit: linked(
    tables.audit,
    ["id"],
    [
      { by: "id", column: "actor", erase: { actor: "pseudonym" } },
      { by: "id", column: "subject", erase: { subject: "pseudonym" } },
    ],
  ),
  replays: linked(
    tables.replays,
    ["id"],
    [{ by: "id", column: "actor", erase: { actor: "pseudonym" } }],
  ),
  users: linked(
    tables.users,
    ["id"],
    [
      { by: "id", column: "id", erase: "delete" },
      { by: "email", column: "email", erase: "delete" },
    ],
  ),
} as const satisfies Partial<Record<keyof typeof tables, LinkedTable>>;

export type TableName = keyof typeof linkedTables;
