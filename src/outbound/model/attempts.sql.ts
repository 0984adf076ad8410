import { and, eq, type SQL, sql } from "drizzle-orm";

import {
  type Dialect,
  type Parameters,
  type Statement,
  statementsOver,
} from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { TablesOf } from "../../db/table.ts";
import { eventsTable } from "../../event/event.ts";

import { deliveriesTable, type StoredDelivery } from "./delivery.ts";
import type { Destination } from "./destination.ts";
import { idOfNumber, numberOf } from "./destinations.sql.ts";
import { type Attempt, failedAttemptsTable, notificationsTable } from "./notification.ts";

const tables = {
  deliveries: deliveriesTable,
  notifications: notificationsTable,
  failedAttempts: failedAttemptsTable,
  events: eventsTable,
};
type Tables = TablesOf<typeof tables>;
const statement = statementsOver(tables);

/** Which attempts are read: those of the event at a position, or of some notifications to one destination. */
type OfEvent = Pick<StoredDelivery, "event">;
interface OfDestination {
  readonly destinationId: Destination["id"];
  readonly notifications: readonly StoredDelivery["notification"][];
}

/** An attempt that succeeded, which its delivery has. Join its event. */
function successColumns({ deliveries, events }: Tables, dialect: Dialect) {
  const { notification, destination, startedAt, durationMs, responseStatus } = deliveries;
  return {
    notificationId: dialect.idOf("ntf", notification, events.tail),
    destinationId: idOfNumber(destination),
    startedAt: sql<Date>`${startedAt}`.mapWith(startedAt),
    durationMs: sql<number>`${durationMs}`.mapWith(Number),
    delivered: sql<boolean>`1`.mapWith(Boolean),
    responseStatus,
    error: sql<null>`null`,
  };
}

/** The columns of a failed attempt. */
function failureColumns({ failedAttempts, events }: Tables, dialect: Dialect) {
  const { notification, destination, startedAt, durationMs, responseStatus, error } =
    failedAttempts;
  return {
    notificationId: dialect.idOf("ntf", notification, events.tail),
    destinationId: idOfNumber(destination),
    startedAt,
    durationMs,
    delivered: sql<boolean>`0`.mapWith(Boolean),
    responseStatus,
    error,
  };
}

const successes = <Values extends object>(
  which: (t: Tables, p: Parameters<Values>, dialect: Dialect) => SQL | undefined,
) =>
  statement<Values>()((db, t, p, dialect) =>
    db
      .select(successColumns(t, dialect))
      .from(t.deliveries)
      .innerJoin(t.events, eq(t.events.position, t.deliveries.event))
      // With the bare column, SQLite would read all attempts of a destination by their times.
      .where(
        and(
          which(t, p, dialect),
          sql`+${t.deliveries.startedAt} is not null and ${idOfNumber(t.deliveries.destination)} is not null`,
        ),
      ),
  );
const failures = <Values extends object>(
  which: (t: Tables, p: Parameters<Values>, dialect: Dialect) => SQL | undefined,
) =>
  statement<Values>()((db, t, p, dialect) =>
    db
      .select(failureColumns(t, dialect))
      .from(t.failedAttempts)
      .innerJoin(t.notifications, eq(t.notifications.position, t.failedAttempts.notification))
      .innerJoin(t.events, eq(t.events.position, t.notifications.event))
      // An attempt may have begun before its destination was removed.
      .where(
        and(which(t, p, dialect), sql`${idOfNumber(t.failedAttempts.destination)} is not null`),
      ),
  );

/** Reads attempts, oldest first. */
export async function attemptsBy<Values extends object>(
  storage: Storage,
  [succeeded, failed]: readonly [Statement<Values, Attempt>, Statement<Values, Attempt>],
  values: NoInfer<Values>,
): Promise<readonly Attempt[]> {
  const found = await Promise.all([storage.all(succeeded, values), storage.all(failed, values)]);
  return found.flat().toSorted((one, other) => one.startedAt.getTime() - other.startedAt.getTime());
}

/** The attempts to deliver the notifications of an event. */
export const attemptsOfEvent = [
  successes<OfEvent>((t, p) => eq(t.deliveries.event, p.event)),
  failures<OfEvent>((t, p) => eq(t.notifications.event, p.event)),
] as const;

/** The attempts to deliver several notifications to one destination. */
export const attemptsTo = [
  successes<OfDestination>(({ deliveries: { notification, destination } }, p, dialect) =>
    and(dialect.among(notification, p.notifications), eq(destination, numberOf(p.destinationId))),
  ),
  failures<OfDestination>(({ failedAttempts: { notification, destination } }, p, dialect) =>
    and(dialect.among(notification, p.notifications), eq(destination, numberOf(p.destinationId))),
  ),
] as const;
