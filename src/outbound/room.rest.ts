import { Elysia } from "elysia";

import type { Clock } from "../base/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { Callers } from "../web/rest/route.ts";

import { destinationsRest } from "./destinations/destinations.rest.ts";
import type { Feed } from "./notifications/feed.ts";
import { notificationsRest } from "./notifications/notifications.rest.ts";
import type { Notifications } from "./notifications/notifications.ts";

interface Parts {
  readonly notifications: Notifications;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly log: Log;
}

export const outboundRoutes = (
  parts: Parts & Parameters<typeof destinationsRest>[0],
  callers: Callers,
) =>
  new Elysia()
    .use(notificationsRest(parts.notifications, parts.feed, callers, parts))
    .use(destinationsRest(parts, callers));
