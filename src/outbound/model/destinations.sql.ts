import { and, asc, type Column, eq, type Placeholder, type SQL, sql } from "drizzle-orm";

import { pagesOver } from "../../db/keyset.ts";
import {
  allColumns,
  columnsOf,
  encoded,
  type Parameters,
  rowIf,
  shownColumns,
  statementsOver,
} from "../../db/statement.ts";
import type { TablesOf } from "../../db/table.ts";

import {
  type Destination,
  destinationSchema,
  destinationsTable,
  type Health,
  type StoredDestination,
} from "./destination.ts";

const tables = { destinations: destinationsTable };
const statement = statementsOver(tables);

/** The columns without secrets. */
function destinationColumns({ destinations }: TablesOf<typeof tables>) {
  return shownColumns(destinations, destinationSchema.properties);
}

/** All columns except the number, which the database assigns. */
function storedColumns({ destinations }: TablesOf<typeof tables>) {
  const { number: _, ...columns } = columnsOf(destinations);
  return columns;
}

/** The number of the destination with an id, or null. */
export function numberOf(id: Placeholder): SQL {
  return sql`(select destinations.number from destinations where destinations.id = ${id})`;
}

/** The id of the destination whose number a column has, or null. */
export function idOfNumber(column: Column): SQL<Destination["id"]> {
  return sql<
    Destination["id"]
  >`(select destinations.id from destinations where destinations.number = ${column})`;
}

/** As in the unique index: the operators' destinations have no owner. */
const ownerOf = ({ ownerId }: TablesOf<typeof tables>["destinations"]) =>
  sql`coalesce(${ownerId}, '')`;

const isOfOwner = (
  destinations: TablesOf<typeof tables>["destinations"],
  p: Parameters<Pick<Destination, "ownerId">>,
) => sql`${ownerOf(destinations)} = coalesce(${p.ownerId}, '')`;

/**
 * Touches no row when the name is taken, the owner has `maxOfOwner` destinations, or all users together have
 * `maxOfUsers`. Insertions wait for each other, because the last limit concerns all of them.
 */
export const insertIfRoom = statement<
  StoredDestination & { maxOfOwner: number; maxOfUsers: number }
>()(
  (db, { destinations }, p, dialect) => {
    const count = (condition: SQL) =>
      sql`(select count(*) from ${destinations} where ${condition})`;
    const ofOwner = count(isOfOwner(destinations, p));
    const ofUsers = count(sql`${destinations.ownerId} is not null`);
    const hasRoom = sql`${ofOwner} < ${p.maxOfOwner} and (coalesce(${p.ownerId}, '') = '' or ${ofUsers} < ${p.maxOfUsers})`;
    return db
      .insert(destinations)
      .select(rowIf(destinations, hasRoom, { number: dialect.nextKey(destinations.number) }))
      .onConflictDoNothing();
  },
  { contended: () => ({ table: destinationsTable, ids: [0] }) },
);

/** For the destination of the settings. Touches no row when the name or id is taken. */
export const insertDestination = statement<StoredDestination>()(
  (db, { destinations }, _, dialect) =>
    db
      .insert(destinations)
      .values({
        ...allColumns(destinations, "number"),
        number: dialect.nextKey(destinations.number),
      })
      .onConflictDoNothing(),
);

export const allDestinations = statement()((db, t) =>
  db
    .select(storedColumns(t))
    .from(t.destinations)
    .orderBy(asc(t.destinations.createdAt), asc(t.destinations.id)),
);

/** The columns that show whether a destination has changed since it was read. */
export const destinationVersions = statement()((db, { destinations }) => {
  const { id, updatedAt, failures, openUntil, failingSince } = destinations;
  return db
    .select({ id, updatedAt, failures, openUntil, failingSince })
    .from(destinations)
    .orderBy(asc(destinations.createdAt), asc(destinations.id));
});

export const destinationsByIds = statement<{ ids: readonly Destination["id"][] }>()(
  (db, { destinations }, p, dialect) =>
    db
      .select(columnsOf(destinations))
      .from(destinations)
      .where(dialect.among(destinations.id, p.ids)),
);

/** The destination of an owner with this name, by the unique index. */
export const destinationByName = statement<Pick<Destination, "name" | "ownerId">>()(
  (db, { destinations }, p) =>
    db
      .select({ id: destinations.id })
      .from(destinations)
      .where(and(isOfOwner(destinations, p), eq(destinations.name, p.name)))
      .limit(1),
);

/** How many destinations an owner has. */
export const countOfOwner = statement<Pick<Destination, "ownerId">>()((db, { destinations }, p) =>
  db
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(destinations)
    .where(isOfOwner(destinations, p)),
);

export const destinationById = statement<Pick<Destination, "id">>()((db, t, p) =>
  db.select(storedColumns(t)).from(t.destinations).where(eq(t.destinations.id, p.id)).limit(1),
);

/** Replaces what users can change. Its health stays. Touches no row if it changed since `before`. */
export const updateDestination = statement<
  Omit<StoredDestination, "ownerId" | "createdAt" | keyof Health> & { before: Date }
>()((db, { destinations }, p) =>
  db
    .update(destinations)
    .set({
      name: p.name,
      format: p.format,
      transport: p.transport,
      url: p.url,
      filter: p.filter,
      orderBy: p.orderBy,
      ratePerSecond: p.ratePerSecond,
      maxConcurrent: p.maxConcurrent,
      retryDelays: p.retryDelays,
      batchMaxItems: p.batchMaxItems,
      batchMaxWaitMs: p.batchMaxWaitMs,
      headerNames: p.headerNames,
      tokenUrl: p.tokenUrl,
      template: p.template,
      alerts: p.alerts,
      state: p.state,
      disabledReason: p.disabledReason,
      updatedAt: p.updatedAt,
      sealed: p.sealed,
    })
    .where(
      and(
        eq(destinations.id, p.id),
        eq(destinations.updatedAt, encoded(p.before, destinations.updatedAt)),
      ),
    ),
);

/** Touches no row if it changed since `before`, or is disabled. */
export const disableDestination = statement<
  Pick<Destination, "id" | "updatedAt" | "disabledReason"> & { before: Date }
>()((db, { destinations }, p) => {
  const { id, updatedAt, state } = destinations;
  return db
    .update(destinations)
    .set({ state: "disabled", disabledReason: p.disabledReason, updatedAt: p.updatedAt })
    .where(
      sql`${id} = ${p.id} and ${updatedAt} = ${encoded(p.before, updatedAt)} and ${state} <> 'disabled'`,
    );
});

export const deleteDestination = statement<Pick<Destination, "id">>()((db, { destinations }, p) =>
  db.delete(destinations).where(eq(destinations.id, p.id)),
);

/** Many attempts change the health of a destination at the same time. */
export const healthIsContended = {
  contended: ({ id }: Pick<Destination, "id">) => ({ table: destinationsTable, ids: [id] }),
};

const resetHealth = (options: Partial<typeof healthIsContended>) =>
  statement<Pick<Destination, "id">>()((db, { destinations }, p) => {
    const { id, failures, openUntil, failingSince } = destinations;
    return db
      .update(destinations)
      .set({ failures: sql`0`, openUntil: sql`null`, failingSince: sql`null` })
      .where(sql`${id} = ${p.id} and ${failures} > 0`)
      .returning({ failures, openUntil, failingSince });
  }, options);

/** Records a success where another instance may have failed. Touches no row if none has, so it does not wait for others. */
export const recordSuccess = resetHealth({});

/** Records a success after failures. Closes the circuit. */
export const recordRecovery = resetHealth(healthIsContended);

/** Counts a failure. Opens the circuit until `openUntil` once there are `threshold` in a row. */
export const recordFailure = statement<
  Pick<Destination, "id"> & { now: Date; openUntil: Date; threshold: number }
>()((db, { destinations }, p) => {
  const { id, failures, openUntil, failingSince } = destinations;
  return db
    .update(destinations)
    .set({
      failures: sql`${failures} + 1`,
      openUntil: sql`case when ${failures} + 1 >= ${p.threshold} then ${encoded(p.openUntil, openUntil)} else ${openUntil} end`,
      failingSince: sql`coalesce(${failingSince}, ${encoded(p.now, failingSince)})`,
    })
    .where(eq(id, p.id))
    .returning({ failures, openUntil, failingSince });
}, healthIsContended);

export const destinationPages = pagesOver(tables)<Destination, "ownerId">({
  table: (t) => t.destinations,
  select: (db, t) => db.select(destinationColumns(t)).from(t.destinations),
  isSmall: true,
});

/** The destinations of the operators and of one owner. */
export const operatorsDestinationPages = pagesOver(tables)<Destination, "ownerId">({
  table: (t) => t.destinations,
  select: (db, t) => db.select(destinationColumns(t)).from(t.destinations),
  conditions: {
    ownerId: ({ destinations: { ownerId } }, value) =>
      sql`(${ownerId} is null or ${ownerId} = ${value})`,
  },
  isSmall: true,
});
