import { type Context, requireOperator } from "../../base/context.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate, type Source } from "../../db/paginate.ts";
import { readInSlices } from "../../db/sliced.ts";
import type { Storage } from "../../db/storage.ts";
import { destinationNamed } from "../destination-named.ts";
import type { Notification } from "../notification.ts";
import {
  notificationPages,
  notificationsOfEvents,
  sentNotificationPages,
} from "../notifications.sql.ts";

import type { NotificationFilters } from "./notification-filters.ts";

export interface Notifications {
  /** Operators only. Newest first. Throws `invalid-parameter` for an unknown destination. */
  list(
    ctx: Context,
    request: PageRequest,
    filters: NotificationFilters,
  ): Promise<Page<Notification>>;
  /** Operators only. The notifications of several events, in the order of creation. */
  ofEvents(ctx: Context, eventIds: readonly Notification["eventId"][]): Promise<Notification[]>;
}

export function notifications(storage: Storage): Notifications {
  return {
    async list(ctx, request, { destination: named, status }) {
      requireOperator(ctx);
      const destination = await destinationNamed(storage, named);
      const pages =
        destination === undefined
          ? notificationPages(storage, { status })
          : sentMatching(storage, { destination, status });
      return paginate(pages, request);
    },
    async ofEvents(ctx, eventIds) {
      requireOperator(ctx);
      return storage.all(notificationsOfEvents, { eventIds });
    },
  };
}

/** Only dead deliveries have an index of their own; those with another status may be few among many. */
function sentMatching(
  storage: Storage,
  { destination, status }: NotificationFilters,
): Source<Notification> {
  if (status === undefined || status === "dead") {
    return sentNotificationPages(storage, { destination, status });
  }
  return readInSlices(
    storage,
    {},
    (range) => sentNotificationPages(storage, { destination }, range),
    (range) => sentNotificationPages(storage, { destination, status }, range),
  );
}
