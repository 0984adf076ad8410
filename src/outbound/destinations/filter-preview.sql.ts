import { desc, eq } from "drizzle-orm";

import { statementsOver } from "../../db/statement.ts";
import { eventsTable } from "../../event/event.ts";
import { notificationsTable } from "../notification.ts";

const statement = statementsOver({ notifications: notificationsTable, events: eventsTable });

/** The newest notifications, with the fields of their events that filters read. */
export const newestNotifications = statement<{ limit: number }>()(
  (db, { notifications, events }, p) =>
    db
      .select({
        id: notifications.id,
        eventId: notifications.eventId,
        createdAt: notifications.createdAt,
        severity: notifications.severity,
        provider: events.provider,
        type: events.type,
        subject: events.subject,
        title: events.title,
        actor: events.actor,
        data: events.data,
      })
      .from(notifications)
      .innerJoin(events, eq(events.id, notifications.eventId))
      .orderBy(desc(notifications.createdAt), desc(notifications.id))
      .limit(p.limit),
);
