import type { NotificationTypes } from "../../outbound/notifications/notifications.graphql.ts";
import type { Builder } from "../../web/graphql/builder.ts";

import type { HistoryEntry, Webhook } from "./booking-history.ts";

/** The entries of `Booking.history`. */
export function historyType(builder: Builder, { NotificationType }: NotificationTypes) {
  const WebhookType = builder.objectRef<Webhook>("BookingWebhook").implement({
    description: "The provider's event that caused an entry of a booking's history.",
    fields: (t) => ({
      provider: t.exposeString("provider", { description: "The provider." }),
      eventId: t.exposeID("eventId", { description: "Id of the event in REST." }),
      deleted: t.exposeBoolean("deleted", {
        description: "Whether retention has deleted the event.",
      }),
    }),
  });
  return builder.objectRef<HistoryEntry>("BookingHistoryEntry").implement({
    description: "An entry in a booking's history.",
    fields: (t) => ({
      at: t.expose("at", { type: "DateTime", description: "When it happened." }),
      type: t.exposeString("type", { description: "What happened, for example booking.held." }),
      title: t.exposeString("title", { description: "Summary in one line." }),
      actor: t.exposeString("actor", {
        nullable: true,
        description: "Id of the caller; null if no caller was involved or it is no longer known.",
      }),
      eventId: t.exposeID("eventId", {
        nullable: true,
        description:
          "Id of the entry's event; null if it has none, or retention has deleted it. For a payment or refund the provider's, also if deleted.",
      }),
      webhook: t.expose("webhook", {
        type: WebhookType,
        nullable: true,
        description: "The provider's event that caused it; null if none did.",
      }),
      notifications: t.field({
        type: [NotificationType],
        description: "The notifications about that event.",
        resolve: ({ notifications }) => notifications,
      }),
    }),
  });
}
