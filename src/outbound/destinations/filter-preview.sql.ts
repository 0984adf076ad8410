import { desc, eq } from "drizzle-orm";

import { statementsOver } from "../../db/statement.ts";
import { createdAt, eventId } from "../../event/event.sql.ts";
import { eventsTable } from "../../event/event.ts";
import { notificationsTable } from "../model/notification.ts";

const statement = statementsOver({ notifications: notificationsTable, events: eventsTable });

/** The newest notifications, with the fields of their events that filters read. */
export const newestNotifications = statement<{ limit: number }>()(
  (db, { notifications, events }, p, dialect) =>
    db
      .select({
        id: dialect.idOf("ntf", notifications.position, events.tail),
        eventId: eventId({ events }, dialect),
        createdAt: createdAt(notifications.position),
        severity: notifications.severity,
        provider: events.provider,
        type: events.type,
        subject: events.subject,
        title: events.title,
        actor: events.actor,
        data: events.data,
      })
      .from(notifications)
      .innerJoin(events, eq(events.position, notifications.event))
      .orderBy(desc(notifications.position))
      .limit(p.limit),
);
