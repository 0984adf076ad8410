import type { Definition, TableDefinition } from "../db/table.ts";
import { tables } from "../schema/schema.ts";

/**
 * What a column says about a person: nothing; who it is; text that may name one; an id that stands for one; or a
 * secret, which no export contains.
 */
export const columnClasses = ["none", "identifies", "text", "pseudonym", "secret"] as const;
type ColumnClass = (typeof columnClasses)[number];

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

/** The columns of a table by class, and its links to persons. */
export interface PersonalTable {
  readonly definition: Definition;
  /** The names of the columns, separated by spaces. */
  readonly columns: Readonly<Partial<Record<ColumnClass, string>>>;
  /** The fields that order and identify the rows; empty for a table that is neither linked nor searched. */
  readonly key: readonly string[];
  readonly links: readonly Link[];
}

type Words<Text> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;
type FieldOf<Defined> = Defined extends TableDefinition<infer Row> ? keyof Row & string : never;

/** Unknown if both name the same columns; otherwise a type that no definition has, which names the others. */
type Same<Fields, Given> = [Exclude<Fields, Given>] extends [never]
  ? [Exclude<Given, Fields>] extends [never]
    ? unknown
    : { readonly noSuchColumn: Exclude<Given, Fields> }
  : { readonly columnWithoutClass: Exclude<Fields, Given> };

/** Does not compile unless each column has a class. */
function table<
  const Defined extends Definition,
  const Columns extends Partial<Record<ColumnClass, string>>,
>(
  definition: Defined,
  columns: Columns & Same<FieldOf<Defined>, Words<Columns[keyof Columns]>>,
  key: readonly FieldOf<Defined>[] = [],
  links: readonly (Link & { readonly column: FieldOf<Defined> })[] = [],
): PersonalTable {
  return { definition, columns, key, links };
}

/**
 * The class of every column. Exports, erasure and the search for names are made from it. Rows are erased in this
 * order; users come last, so that an erasure that was interrupted finds its person again.
 */
export const personalTables = {
  bookings: table(
    tables.bookings,
    {
      identifies: "contactEmail",
      pseudonym: "id reference userId",
      none: "flightId status seats totalMinor currency paymentMethod createdAt updatedAt expiresAt confirmedAt expiredAt cancelledAt refundMinor refundPercent refundReason paidMinor refundedMinor paymentCount chargedMinor refundDueMinor keptMinor revision",
    },
    ["id"],
    [
      {
        by: "id",
        column: "userId",
        erase: { userId: "pseudonym", contactEmail: "no address" },
      },
      { by: "email", column: "contactEmail", erase: { contactEmail: "no address" } },
    ],
  ),
  passengers: table(
    tables.passengers,
    {
      identifies: "firstName lastName lastNameFolded email sealed",
      pseudonym: "bookingId",
      none: "position cancelledAt corrections",
    },
    ["bookingId", "position"],
    [
      { by: "booking", column: "bookingId", erase: "delete" },
      { by: "email", column: "email", erase: "delete" },
    ],
  ),
  payments: table(
    tables.payments,
    {
      text: "note",
      // The actor is an admin who recorded a refund.
      pseudonym: "bookingId reference actor",
      none: "eventId provider amountMinor currency amount outcome createdAt",
    },
    ["eventId"],
    [{ by: "booking", column: "bookingId", erase: "keep" }],
  ),
  bookingChanges: table(
    tables.bookingChanges,
    {
      pseudonym: "bookingId userId",
      none: "id kind status revision flightId newFlightId passengers seats currency previousTotalMinor newTotalMinor penaltyMinor changeTotalMinor keptMinor percent reason createdAt updatedAt expiresAt confirmedAt",
    },
    ["id"],
    [{ by: "booking", column: "bookingId", erase: { userId: "pseudonym" } }],
  ),
  flightChangeNotices: table(
    tables.flightChangeNotices,
    {
      pseudonym: "bookingId answeredBy",
      none: "changeId status createdAt notifiedAt answeredAt",
    },
    ["bookingId", "changeId"],
    [{ by: "booking", column: "bookingId", erase: { answeredBy: "pseudonym" } }],
  ),
  disclosures: table(
    tables.disclosures,
    { identifies: "actor", text: "reason", pseudonym: "bookingId", none: "id createdAt" },
    ["id"],
    [{ by: "booking", column: "bookingId", erase: "keep" }],
  ),
  idempotency: table(
    tables.idempotency,
    {
      pseudonym: "scope key resourceId",
      secret: "requestHash",
      none: "createdAt expiresAt",
    },
    ["scope", "key"],
    [{ by: "scope", column: "scope", erase: "delete" }],
  ),
  sessions: table(
    tables.sessions,
    {
      identifies: "address userAgent",
      pseudonym: "actor",
      secret: "hash",
      none: "id kind allowed roles createdAt expiresAt",
    },
    ["id"],
    [{ by: "id", column: "actor", erase: "delete" }],
  ),
  destinations: table(
    tables.destinations,
    {
      text: "name address filter headerNames template",
      pseudonym: "ownerId",
      secret: "sealed",
      none: "id format transport orderBy ratePerSecond maxConcurrent retryDelays batchMaxItems batchMaxWaitMs alerts state disabledReason createdAt updatedAt failures failingSince openUntil",
    },
    ["id"],
    [{ by: "id", column: "ownerId", erase: "delete" }],
  ),
  // A user's go with the destination.
  deliveries: table(
    tables.deliveries,
    {
      text: "orderKey lastError",
      pseudonym: "ownerId",
      none: "id destinationId notificationId eventId createdAt status attemptCount dueAt deliveredAt seq leasedUntil blocked afterDead",
    },
    ["seq"],
  ),
  audit: table(
    tables.audit,
    { text: "subject detail", pseudonym: "actor", none: "id createdAt action" },
    ["id"],
    [
      { by: "id", column: "actor", erase: { actor: "pseudonym" } },
      { by: "id", column: "subject", erase: { subject: "pseudonym" } },
    ],
  ),
  replays: table(
    tables.replays,
    {
      text: "filters lastError",
      pseudonym: "actor",
      none: "id createdAt status ratePerSecond total resent notified silent deleted failed changed updatedAt positionAt positionId leasedBy leasedUntil",
    },
    ["id"],
    [{ by: "id", column: "actor", erase: { actor: "pseudonym" } }],
  ),
  users: table(
    tables.users,
    { identifies: "name email", pseudonym: "id", none: "createdAt" },
    ["id"],
    [
      { by: "id", column: "id", erase: "delete" },
      { by: "email", column: "email", erase: "delete" },
    ],
  ),
  events: table(
    tables.events,
    {
      text: "subject title url actor data headers effect body",
      // The key must stay: without it, a retry of the provider would be stored again.
      pseudonym: "idempotencyKey address",
      none: "id provider type status occurredAt createdAt recovered signedWith bodyBytes duplicates item items bodyOf bodyHash seq",
    },
    ["id"],
  ),
  notifications: table(
    tables.notifications,
    {
      text: "title text url lastError",
      none: "seq id eventId createdAt severity status attemptCount dueAt deliveredAt",
    },
    ["seq"],
  ),
  rejections: table(
    tables.rejections,
    {
      text: "headers signatures body",
      pseudonym: "address",
      none: "id provider createdAt reason requestId bodyBytes",
    },
    ["id"],
  ),
  waitingRefunds: table(
    tables.waitingRefunds,
    { text: "notice", pseudonym: "reference", none: "eventId provider createdAt" },
    ["eventId"],
  ),
  replayFailures: table(tables.replayFailures, { text: "error", none: "replayId id createdAt" }, [
    "replayId",
    "id",
  ]),
  clients: table(
    tables.clients,
    { text: "name", secret: "secretHash", none: "id roles createdAt" },
    ["id"],
  ),
  // What a receiver answered is not stored, only its status and what went wrong.
  attempts: table(tables.attempts, {
    none: "notificationId destinationId startedAt durationMs delivered responseStatus error",
  }),
  erasures: table(tables.erasures, { pseudonym: "id", none: "createdAt" }),
  flights: table(tables.flights, {
    none: "id flightNumber airline origin destination departureTime arrivalTime cabinClass seatsAvailable createdAt seats priceMinor currency cancelledAt",
  }),
  flightChanges: table(tables.flightChanges, {
    none: "id flightId type previousDepartureTime previousArrivalTime previousOrigin previousDestination departureTime arrivalTime origin destination asksOwners createdAt",
  }),
  paymentSearches: table(tables.paymentSearches, { none: "provider source searchedUntil" }),
  mutes: table(tables.mutes, { none: "issueId until" }),
  webhookCounts: table(tables.webhookCounts, {
    none: "spanMinutes provider minute verdict deliveries",
  }),
  secretUses: table(tables.secretUses, { none: "provider secret firstMatchedAt lastMatchedAt" }),
  reconciliations: table(tables.reconciliations, {
    none: "provider coveredUntil checkedAt succeededAt nextRunAt pausedUntil error recovered page runUntil leasedBy leasedUntil",
  }),
  searchQueue: table(tables.searchQueue, { none: "seq eventId" }),
  eventStates: table(tables.eventStates, { none: "position id createdAt delivery" }),
} as const satisfies Record<keyof typeof tables, PersonalTable>;

export type TableName = keyof typeof personalTables;

/** The names of the columns of a class. */
export function columnsOfClass({ columns }: PersonalTable, name: ColumnClass): readonly string[] {
  return columns[name]?.split(" ") ?? [];
}
