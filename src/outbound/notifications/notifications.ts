import { type Context, requireOperator } from "../../base/context.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { mergeSources } from "../../db/merge.ts";
import { paginate, type Source } from "../../db/paginate.ts";
import type { Storage } from "../../db/storage.ts";
import { severities } from "../../event/new-notification.ts";
import { destinationNamed } from "../model/destination-named.ts";
import type { Notification } from "../model/notification.ts";
import {
  notificationPages,
  openNotificationPages,
  sentNotificationPages,
} from "../model/notifications.sql.ts";

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
    async list(ctx, request, { destination: named, status, severity }) {
      requireOperator(ctx);
      const destination = await destinationNamed(storage, named);
      // All have the lowest severity or a higher one.
      const least = severity === severities[0] ? undefined : severity;
      const filters = { destination, status, severity: least };
      return paginate(notificationsMatching(storage, filters), request);
    },
  };
}

/** `destination` must be an id. */
function notificationsMatching(
  storage: Storage,
  { destination, status, severity }: NotificationFilters,
): Source<Notification> {
  if (destination !== undefined) {
    return sentNotificationPages(storage, { destination, status, severity });
  }
  if (status !== undefined && status !== "delivered") {
    return openNotificationPages(storage, { open: status, status, severity });
  }
  if (severity === undefined) return notificationPages(storage, { status });
  // One list per severity, each by its index.
  const wanted = severities.slice(severities.indexOf(severity));
  return mergeSources(wanted.map((each) => notificationPages(storage, { status, severity: each })));
}
