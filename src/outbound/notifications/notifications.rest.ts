import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";

import type { Clock } from "../../base/clock.ts";
import { requireOperator } from "../../base/context.ts";
import { queriedFilters } from "../../base/filters.ts";
import { isAtLeast, type Severity } from "../../event/new-notification.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";
import type { Log } from "../../telemetry/log.ts";
import { filterParameters } from "../../web/filters.schema.ts";
import { pageOf } from "../../web/page.schema.ts";
import { problemReferences } from "../../web/rest/problem.schema.ts";
import { type Callers, describedOperation, operatorsOnly, routes } from "../../web/rest/route.ts";
import {
  eventStream,
  lastEventId,
  lastEventIdHeader,
  type ServerSentEvent,
} from "../../web/rest/sse.ts";
import { documented } from "../../web/schema.ts";
import { urlOf } from "../../web/url.ts";
import { notificationSchema } from "../model/notification.ts";

import type { Feed, FeedEntry } from "./feed.ts";
import { feedFilters, notificationFilters } from "./notification-filters.ts";
import type { Notifications } from "./notifications.ts";

const feedQuery = documented(Type.Object(filterParameters(feedFilters)));

/** The notifications with their delivery status, and the feed of new ones, for operators. */
export const notificationsRest = (
  notifications: Notifications,
  feed: Feed,
  callers: Callers,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
) => {
  const { list } = routes(callers, "Notifications", operatorsOnly);
  return new Elysia({ name: "notifications" })
    .get(
      "/v1/notifications",
      ...list("listNotifications", "List notifications", {
        description: "Newest first.",
        ids: "ntf_",
        filters: notificationFilters,
        response: pageOf(notificationSchema),
        serve: ({ ctx, page, filters }) => notifications.list(ctx, page, filters),
      }),
    )
    .get(
      "/v1/feed",
      async (exchange) => {
        const ctx = await callers.authenticated(exchange);
        requireOperator(ctx);
        const { severity } = queriedFilters(feedFilters, urlOf(exchange.request).searchParams);
        // Read before the stream opens, so that the client misses nothing after it opens.
        const last = lastEventId(exchange.request);
        const afterSeq = await (last === null ? feed.newestSeq() : feed.resumeAfter(last));
        const entries = whileSignedIn(ctx, clock, (signal) => feed.follow(afterSeq, signal));
        const end = (error?: unknown) => {
          void entries.return?.();
          if (error !== undefined) log.error({ err: error }, "feed of a subscriber failed");
        };
        return eventStream(clock, messages(entries, severity), end, { position: afterSeq });
      },
      {
        query: feedQuery,
        detail: {
          ...describedOperation(
            "Notifications",
            operatorsOnly,
            "followNotifications",
            "Follow notifications as they happen",
          ),
          parameters: [lastEventIdHeader],
          responses: {
            200: {
              description: "Messages named `notification`, with JSON as their data.",
              content: { "text/event-stream": { schema: { type: "string" } } },
            },
            ...problemReferences(400, 401, 403),
          },
        },
      },
    );
};

async function* messages(
  entries: AsyncIterable<FeedEntry>,
  least: Severity | undefined,
): AsyncGenerator<ServerSentEvent, void> {
  for await (const { seq, ...entry } of entries) {
    if (!isAtLeast(entry.severity, least)) continue;
    yield { id: String(seq), event: "notification", data: entry };
  }
}
