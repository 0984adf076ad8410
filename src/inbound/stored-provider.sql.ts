import { eq } from "drizzle-orm";

import { statementsOver } from "../db/statement.ts";
import { eventsTable } from "../event/event.ts";

import { rejectionsTable } from "./rejection.ts";

const statement = statementsOver({ events: eventsTable, rejections: rejectionsTable });

/** Any event of a provider. */
export const eventOf = statement<{ provider: string }>()((db, { events }, p) =>
  db.select({ id: events.id }).from(events).where(eq(events.provider, p.provider)).limit(1),
);

/** Any rejection of a provider. */
export const rejectionOf = statement<{ provider: string }>()((db, { rejections }, p) =>
  db
    .select({ id: rejections.id })
    .from(rejections)
    .where(eq(rejections.provider, p.provider))
    .limit(1),
);
