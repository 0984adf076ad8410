import type { Builder } from "../../web/graphql/builder.ts";
import { connectionOf } from "../../web/graphql/connection.ts";
import { checkedFilter } from "../../web/rest/query.ts";
import { decodeCursor } from "../../base/cursor.ts";

import { eventStatuses } from "../event.ts";

/** What came in, for operators. */
export function eventsGraphql(builder: Builder): void {
  const EventStatus = builder.enumType("EventStatus", {
    description:
      "`accepted`: operators are told. `ignored`: verified, of a type nobody asked for. `unreadable`: verified, but not to be parsed.",
    values: eventStatuses,
  });

  builder.node("Event", {
    description: "Something that happened, by a verified webhook or in this service.",
    id: { resolve: ({ id }) => id },
    loadManyWithoutCache: (ids, { load }) => Promise.all(ids.map(load.event)),
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
        type: ["Notification"],
        description: "What operators were told of it, in the order of its making.",
        resolve: ({ id }, _, { load }) => load.notifications(id),
      }),
    }),
  });

  builder.queryField("events", (t) =>
    t.connection(
      {
        type: "Event",
        description: "All events, newest first. For operators.",
        args: {
          provider: t.arg.string({ description: "Of this provider only." }),
          type: t.arg.string({ description: "Of this type only." }),
          status: t.arg({ type: EventStatus, description: "Of this status only." }),
        },
        resolve: (_, { provider, type, status, ...args }, { verbs, signedIn }) => {
          const ctx = signedIn();
          const filters = {
            provider: checkedFilter("provider", provider),
            type: checkedFilter("type", type),
            status: status ?? undefined,
          };
          return connectionOf(
            args,
            (cursor) => decodeCursor(cursor, "evt_"),
            (request) => verbs.events.list(ctx, request, filters),
          );
        },
      },
      { name: "EventConnection", description: "A page of events." },
      { name: "EventEdge", description: "An event in a list." },
    ),
  );

  builder.mutationField("replayEvent", (t) =>
    t.field({
      type: "Event",
      description: "Reads an event's stored bytes anew and notifies again. For operators.",
      args: { eventId: t.arg.id({ required: true, description: "The event's id." }) },
      resolve: (_, { eventId }, { verbs, signedIn }) => verbs.events.replay(signedIn(), eventId),
    }),
  );
}
