import { decodeCursor } from "../../base/cursor.ts";
import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { loader, one } from "../../web/graphql/loaders.ts";
import { checkedFilter } from "../../web/rest/query.ts";

import { type Event, eventStatuses } from "../event.ts";
import type { NotificationTypes } from "../notifications/notifications.graphql.ts";

import type { Events } from "./events.ts";

/** What came in, for operators. */
export function eventsGraphql(
  builder: Builder,
  events: Events,
  { NotificationType, loadNotificationsOf }: NotificationTypes,
): void {
  const loadEvent = loader(async ({ signedIn }, ids: readonly string[]) =>
    one(await events.find(signedIn(), ids), ({ id }): string => id),
  );
  const EventType = builder.objectRef<Event>("Event");
  const EventStatus = builder.enumType("EventStatus", {
    description:
      "`accepted`: operators are told. `ignored`: verified, of a type nobody asked for. `unreadable`: verified, but not to be parsed.",
    values: eventStatuses,
  });

  builder.node(EventType, {
    description: "Something that happened, by a verified webhook or in this service.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, ctx) => Promise.all(ids.map((id) => loadEvent(ctx, id))),
    fields: (t) => ({
      eventId: t.exposeID("id", { description: "The event's id, as in REST." }),
      provider: t.exposeString("provider", { description: "Who sent it, as code_host." }),
      type: t.exposeString("type", { description: "What happened, as task.completed." }),
      status: t.expose("status", { type: EventStatus, description: "What was made of it." }),
      idempotencyKey: t.exposeString("idempotencyKey", {
        description: "The same for every delivery of the same event.",
      }),
      occurredAt: t.expose("occurredAt", {
        type: "DateTime",
        description: "When it happened, by the provider's word; else when it was received.",
      }),
      createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was received." }),
      subject: t.exposeString("subject", {
        nullable: true,
        description: "Stable id of the thing it is about, as task/6XR4.",
      }),
      title: t.exposeString("title", { description: "One line that an operator wants to read." }),
      url: t.exposeString("url", { nullable: true, description: "Where to read more." }),
      actor: t.exposeString("actor", {
        nullable: true,
        description: "Who did it, as a name or handle.",
      }),
      data: t.expose("data", { type: "JSONObject", description: "Fields of the payload." }),
      notifications: t.field({
        type: [NotificationType],
        description: "What operators were told of it, in the order of its making.",
        resolve: ({ id }, _, ctx) => loadNotificationsOf(ctx, id),
      }),
    }),
  });

  builder.objectField(NotificationType, "event", (t) =>
    t.field({
      type: EventType,
      nullable: true,
      description: "What it is about; null once that is no longer kept.",
      resolve: ({ eventId }, _, ctx) => loadEvent(ctx, eventId),
    }),
  );

  builder.queryField("events", (t) =>
    t.connection(
      {
        type: EventType,
        description: "All events, newest first. For operators.",
        args: {
          provider: t.arg.string({ description: "Of this provider only." }),
          type: t.arg.string({ description: "Of this type only." }),
          status: t.arg({ type: EventStatus, description: "Of this status only." }),
        },
        resolve: (_, { provider, type, status, ...args }, { signedIn }) => {
          const ctx = signedIn();
          const filters = {
            provider: checkedFilter("provider", provider),
            type: checkedFilter("type", type),
            status: status ?? undefined,
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
      description: "Reads an event's stored bytes anew and notifies again. For operators.",
      args: { eventId: t.arg.id({ required: true, description: "The event's id." }) },
      resolve: (_, { eventId }, { signedIn }) => events.replay(signedIn(), eventId),
    }),
  );
}
