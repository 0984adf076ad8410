import { type Context, requireOperator } from "../../base/context.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import { destinationNamed } from "../destination-named.ts";
import type { Notification } from "../notification.ts";
import { notificationPages, sentNotificationPages } from "../notifications.sql.ts";

import type { NotificationFilters } from "./notification-filters.ts";

export interface Notifications {
  /** Operators only. Newest first. Throws `invalid-parameter` for an unknown destination. */
  list(
    ctx: Context,
    request: PageRequest,
    filters: NotificationFilters,
  ): Promise<Page<Notification>>;
}

export function notifications(storage: Storage): Notifications {
  return {
    async list(ctx, request, { destination: named, status }) {
      requireOperator(ctx);
      const destination = await destinationNamed(storage, named);
      const pages =
        destination === undefined
          ? notificationPages(storage, { status })
          : sentNotificationPages(storage, { destination, status });
      return paginate(pages, request);
    },
  };
}
