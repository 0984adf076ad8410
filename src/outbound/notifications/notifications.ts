import { type Context, requireOperator } from "../../base/context.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import type { Notification } from "../notification.ts";
import { notificationPages, notificationsOfEvents } from "../notifications.sql.ts";

import type { NotificationFilters } from "./notification-filters.ts";

export interface Notifications {
  /** Operators only. Newest first. */
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
    list(ctx, request, filters) {
      requireOperator(ctx);
      return paginate(notificationPages(storage, filters), request);
    },
    async ofEvents(ctx, eventIds) {
      requireOperator(ctx);
      return storage.all(notificationsOfEvents, { eventIds });
    },
  };
}
