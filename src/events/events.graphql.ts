import { decodeCursor } from "../base/cursor.ts";
import { readFilters } from "../base/filters.ts";
import type { Event } from "../event/event.ts";
import { highestSeverity } from "../event/new-notification.ts";
import type { NotificationTypes } from "../outbound/notifications/notifications.graphql.ts";
import type { Builder } from "../web/graphql/builder.ts";
import { connectionOf } from "../web/graphql/connection.ts";
import { filterArguments } from "../web/graphql/filters.ts";
import { enumOf, fieldsExcept, fieldsOf } from "../web/graphql/from-schema.ts";
import { loader, one } from "../web/graphql/loaders.ts";

import { eventFilters } from "./event-filters.ts";
import { deliveryStateOf } from "./event-index.ts";
import { eventSchema } from "./event.schema.ts";
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
  const EventStatus = enumOf(builder, "EventStatus", eventSchema, "status");
  const DeliveryState = enumOf(builder, "DeliveryState", eventSchema, "delivery");

  builder.node(EventType, {
    description: "An event from a verified webhook or from this service.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadEvent(ctx, id))),
    fields: (t) => ({
      eventId: t.exposeID("id", { description: "Id of the event in REST." }),
      ...fieldsOf(t, eventSchema, fieldsExcept(eventSchema, "id", "severity", "delivery"), {
        status: EventStatus,
        data: "JSONObject",
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
        args: filterArguments(t.arg, eventFilters, {
          status: EventStatus,
          delivery: DeliveryState,
        }),
        resolve: (_, args, { signedIn }) => {
          const ctx = signedIn();
          const filters = readFilters(eventFilters, args);
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
