import { type Column, getTableColumns, type Placeholder, SQL, sql } from "drizzle-orm";

import { type Assignments, type Dialect, encoded, type Query, type Sql } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";

import type { eventsTable } from "./event.ts";

type Tables = TablesOf<{ readonly events: typeof eventsTable }>;
type Events = Tables["events"];

/**
 * Inserts an event, unless another one has its idempotency key, or its body hash from the same provider. `row`: a value for
 * each column.
 */
export function insertedOnce(
  db: Sql,
  events: Events,
  row: Assignments<Events>,
  dialect: Dialect,
): Query<never> {
  if (!dialect.isPartitioned) return db.insert(events).values(row).onConflictDoNothing();
  const given: Readonly<Record<string, unknown>> = row;
  const values = Object.fromEntries(
    Object.entries(getTableColumns(events)).map(([field, column]) => [
      field,
      typed(given[field], column),
    ]),
  );
  const { position, idempotencyKey: key, provider, bodyHash: hash } = values;
  const hashKey = sql`event_key(${provider}, ${hash})`;
  return db
    .insert(events)
    .select(
      sql`select ${sql.join(Object.values(values), sql`, `)} where take_keys(${position}, array_remove(array[event_key(${key}), ${hashKey}], null))`,
    );
}

/** PostgreSQL takes the types of a selected row from its values. */
function typed(value: unknown, column: Column): SQL {
  return sql`${value instanceof SQL ? value : sql.param(value, column)}::${sql.raw(column.getSQLType())}`;
}

/** True for the event with an idempotency key. */
export function hasKey({ events }: Tables, key: Placeholder, { isPartitioned }: Dialect): SQL {
  const isEqual = sql`${events.idempotencyKey} = ${key}`;
  return isPartitioned ? isAt(events, isEqual, sql`= event_key(${key}::text)`) : isEqual;
}

/** True for the events with one of these idempotency keys. */
export function hasOneOfKeys({ events }: Tables, keys: Placeholder, dialect: Dialect): SQL {
  const isEqual = dialect.among(events.idempotencyKey, keys);
  if (!dialect.isPartitioned) return isEqual;
  const hashed = sql`array(select event_key(key) from unnest(${keys}::text[]) as key)`;
  return isAt(events, isEqual, sql`= any(${hashed})`);
}

/** True for the event of a provider with a body hash. */
export function hasBodyHash(
  { events }: Tables,
  { provider, bodyHash }: { readonly provider: Placeholder; readonly bodyHash: Placeholder },
  { isPartitioned }: Dialect,
): SQL {
  // Not null, as in the partial index.
  const hash = encoded(bodyHash, events.bodyHash);
  const isEqual = sql`${events.bodyHash} is not null and ${events.provider} = ${provider} and ${events.bodyHash} = ${hash}`;
  const key = sql`= event_key(${provider}::text, ${hash}::bytea)`;
  return isPartitioned ? isAt(events, isEqual, key) : isEqual;
}

/** The positions are read first, so that only the partitions with them are read. */
function isAt({ position }: Events, isEqual: SQL, key: SQL): SQL {
  return sql`${position} = any(array(select held.position from event_keys held where held.key ${key})) and ${isEqual}`;
}
