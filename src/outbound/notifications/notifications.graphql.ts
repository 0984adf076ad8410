import type { Clock } from "../../base/clock.ts";
import { requireOperator } from "../../base/context.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { enumOf, fieldsOf } from "../../web/graphql/from-schema.ts";
import { loader, one, several } from "../../web/graphql/loaders.ts";
import { type Notification, notificationSchema } from "../notification.ts";

import type { Feed, FeedEntry } from "./feed.ts";
import type { Notifications } from "./notifications.ts";

interface NotificationServices {
  readonly notifications: Notifications;
  readonly feed: Feed;
  readonly clock: Clock;
}

/** Notifications as they are made. */
export function notificationsGraphql(
  builder: Builder,
  { notifications, feed, clock }: NotificationServices,
) {
  const loadNotificationsOf = loader(
    async ({ signedIn }, eventIds: readonly Notification["eventId"][]) =>
      several(await notifications.ofEvents(signedIn(), eventIds), ({ eventId }) => eventId),
  );
  const NotificationType = builder.objectRef<Notification | FeedEntry>("Notification");
  const Severity = enumOf(builder, "Severity", notificationSchema, "severity");

  const loadNotification = loader(async ({ signedIn }, ids: readonly string[]) =>
    one(await notifications.find(signedIn(), ids), ({ id }): string => id),
  );

  builder.node(NotificationType, {
    description: "A message to the operators about one event.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadNotification(ctx, id))),
    fields: (t) => ({
      notificationId: t.exposeID("id", { description: "Id of the notification in REST." }),
      ...fieldsOf(t, notificationSchema, ["title", "text", "url", "severity", "createdAt"], {
        severity: Severity,
      }),
    }),
  });

  builder.subscriptionField("notifications", (t) =>
    t.field({
      type: NotificationType,
      description: "New notifications, until the token expires. Operators only.",
      async subscribe(_, _args, { signedIn }) {
        const ctx = signedIn();
        requireOperator(ctx);
        // Read before the response starts, so that the client misses no later notification.
        const afterSeq = await feed.newestSeq();
        return whileSignedIn(ctx, clock, (signal) => feed.follow(afterSeq, signal));
      },
      resolve: (entry) => entry,
    }),
  );

  return { NotificationType, Severity, loadNotificationsOf };
}

/** Used in the types of other features. */
export type NotificationTypes = ReturnType<typeof notificationsGraphql>;
