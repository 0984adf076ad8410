import type { Clock } from "../../base/clock.ts";
import { requireOperator } from "../../base/context.ts";
import { whileSignedIn } from "../../identity/auth/while-signed-in.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { loader, several } from "../../web/graphql/loaders.ts";

import { type Notification, severities } from "../notification.ts";

import type { Feed, FeedEntry } from "./channels/feed.ts";
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
  const Severity = builder.enumType("Severity", {
    description: "How much it matters to an operator.",
    values: severities,
  });

  builder.objectType(NotificationType, {
    description: "One message to the operators about one event.",
    fields: (t) => ({
      notificationId: t.exposeID("id", { description: "The notification's id, as in REST." }),
      title: t.exposeString("title", { description: "One line." }),
      text: t.exposeString("text", { description: "The rest; may be empty." }),
      url: t.exposeString("url", { nullable: true, description: "Where to read more." }),
      severity: t.expose("severity", { type: Severity, description: "How much it matters." }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    }),
  });

  builder.subscriptionField("notifications", (t) =>
    t.field({
      type: NotificationType,
      description: "Every notification from now on, until the token ends. For operators.",
      async subscribe(_, _args, { signedIn }) {
        const ctx = signedIn();
        requireOperator(ctx);
        // Known before the answer begins: a client misses nothing that happens once it is there.
        const afterSeq = await feed.newestSeq();
        return whileSignedIn(ctx, clock, (signal) => feed.follow(afterSeq, signal));
      },
      resolve: (entry) => entry,
    }),
  );

  return { NotificationType, loadNotificationsOf };
}

/** What other features use in their own types. */
export type NotificationTypes = ReturnType<typeof notificationsGraphql>;
