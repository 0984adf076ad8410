import { decodeCursor } from "../base/cursor.ts";
import { checkedFilter, checkedRange } from "../base/parameters.ts";
import { type Event, eventStatuses } from "../event/event.ts";
import { highestSeverity } from "../outbound/notification.ts";
import type { NotificationTypes } from "../outbound/notifications/notifications.graphql.ts";
import type { Builder } from "../web/graphql/builder.ts";
import { connectionOf } from "../web/graphql/connection.ts";
import { loader, one } from "../web/graphql/loaders.ts";

import { deliveryStateOf, deliveryStates } from "./event-index.ts";
import type { Events } from "./events.ts";

/** Events, for operators. */
export function eventsGraphql(
  builder: Builder,
  events: Events,
  { NotificationType, Severity, loadNotificationsOf }: NotificationTypes,
): void {
  const loadEvent = loader(async ({ signedIn }, ids: readonly string[]) =>
    one(await events.find(signedIn(), ids), ({ id }): string => id),
  );
  const loadEffect = loader(async ({ signedIn }, ids: readonly Event["id"][]) =>
    one(await events.effects(signedIn(), ids), ({ id }) => id),
  );
  const EventType = builder.objectRef<Event>("Event");
  const EventStatus = builder.enumType("EventStatus", {
    description:
      "`accepted`: operators are notified. `ignored`: verified, but of a type that is not configured. `unreadable`: verified, but could not be parsed.",
    values: eventStatuses,
  });

  const DeliveryState = builder.enumType("DeliveryState", {
    description:
      "What became of an event's notifications: the worst of their statuses, from `dead` over `retrying` and `pending` to `delivered`. `none`: it has no notifications.",
    values: deliveryStates,
  });

  builder.node(EventType, {
    description: "An event from a verified webhook or from this service.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadEvent(ctx, id))),
    fields: (t) => ({
      eventId: t.exposeID("id", { description: "Id of the event in REST." }),
      provider: t.exposeString("provider", { description: "The sender, for example code_host." }),
      type: t.exposeString("type", { description: "Event type, for example task.completed." }),
      status: t.expose("status", { type: EventStatus, description: "Processing status." }),
      idempotencyKey: t.exposeString("idempotencyKey", {
        description: "The same for all deliveries of one event.",
      }),
      occurredAt: t.expose("occurredAt", {
        type: "DateTime",
        description: "When it happened according to the provider; otherwise when it was received.",
      }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was received." }),
      subject: t.exposeString("subject", {
        nullable: true,
        description: "Stable id of the object it is about, for example task/6XR4.",
      }),
      title: t.exposeString("title", { description: "Summary in one line." }),
      url: t.exposeString("url", { nullable: true, description: "Link to more details." }),
      actor: t.exposeString("actor", {
        nullable: true,
        description: "Name or handle of the person who caused it.",
      }),
      data: t.expose("data", {
        type: "JSONObject",
        description: "Selected fields of the payload.",
      }),
      recovered: t.exposeBoolean("recovered", {
        description:
          "Whether it was read from the provider's log, because its delivery had not arrived.",
      }),
      severity: t.field({
        type: Severity,
        nullable: true,
        description: "The highest severity of its notifications; null if it has none.",
        resolve: async ({ id }, _, ctx) => highestSeverity(await loadNotificationsOf(ctx, id)),
      }),
      delivery: t.field({
        type: DeliveryState,
        description: "The worst state of its notifications.",
        resolve: async ({ id }, _, ctx) => deliveryStateOf(await loadNotificationsOf(ctx, id)),
      }),
      effect: t.string({
        nullable: true,
        description:
          "What it changed in a booking, or why nothing. Null if it is not about a booking's payment.",
        resolve: async ({ id }, _, ctx) => (await loadEffect(ctx, id))?.effect ?? null,
      }),
      notifications: t.field({
        type: [NotificationType],
        description: "The notifications about the event, oldest first.",
        resolve: ({ id }, _, ctx) => loadNotificationsOf(ctx, id),
      }),
    }),
  });

  builder.objectField(NotificationType, "event", (t) =>
    t.field({
      type: EventType,
      nullable: true,
      description: "The event it is about; null after the event was deleted.",
      resolve: ({ eventId }, _, ctx) => loadEvent(ctx, eventId),
    }),
  );

  builder.queryField("events", (t) =>
    t.connection(
      {
        type: EventType,
        description: "All events, newest first. Operators only.",
        args: {
          provider: t.arg.string({ description: "Only events of this provider." }),
          type: t.arg.string({
            description: "Only events of this type; `deploy.*` matches all types with this prefix.",
          }),
          status: t.arg({ type: EventStatus, description: "Only events with this status." }),
          q: t.arg.string({
            description:
              'Only events with all of these words in title, actor, subject or data: `deplo*`, `"build failed"`.',
          }),
          from: t.arg({
            type: "DateTime",
            description: "Only events received at this time or later.",
          }),
          to: t.arg({ type: "DateTime", description: "Only events received before this time." }),
          subject: t.arg.string({ description: "Only events about this resource." }),
          idempotencyKey: t.arg.string({ description: "Only the event with this key." }),
          delivery: t.arg({
            type: DeliveryState,
            description: "Only events with notifications in this state.",
          }),
        },
        resolve: (_, given, { signedIn }) => {
          const ctx = signedIn();
          const {
            provider,
            type,
            status,
            q,
            from,
            to,
            subject,
            idempotencyKey,
            delivery,
            ...args
          } = given;
          const filters = {
            ...checkedRange(from, to),
            provider: checkedFilter("provider", provider),
            type: checkedFilter("type", type),
            status: status ?? undefined,
            q: checkedFilter("q", q),
            subject: checkedFilter("subject", subject),
            idempotencyKey: checkedFilter("idempotencyKey", idempotencyKey),
            delivery: delivery ?? undefined,
          };
          return connectionOf(
            args,
            (cursor) => decodeCursor(cursor, "evt_"),
            (request) => events.list(ctx, request, filters),
          );
        },
      },
      { name: "EventConnection", description: "A page of events." },
      { name: "EventEdge", description: "An event in a list." },
    ),
  );

  builder.mutationField("replayEvent", (t) =>
    t.field({
      type: EventType,
      description:
        "Parses the stored body of an event again. Failed notifications are sent again under their own ids. If none failed, new ones are sent. Operators only.",
      args: { eventId: t.arg.id({ required: true, description: "Id of the event." }) },
      resolve: (_, { eventId }, { signedIn }) => events.replay(signedIn(), eventId),
    }),
  );
}
