import {
  at,
  firstLineAt,
  idAt,
  itemsAt,
  joined,
  type JsonObject,
  textAt,
  unixSecondsAt,
} from "../../base/payload.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { EventContent } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import { text } from "../../web/schema.ts";

import { dataOf, eventNameAt, ignoredTitle, listing, typeName } from "./event-fields.ts";
import type { Interpretation, Provider, VerifiedRequest } from "./provider.ts";
import { samples } from "./shared_inbox.samples.ts";

/** Keyed by the service's `type`. */
const listed = listing({
  inbound: "message.received",
  outbound: "message.sent",
  out_reply: "message.sent",
  assign: "assignee.changed",
  unassign: "assignee.changed",
});

const data = {
  subject: text("The subject of the conversation."),
  preview: text("The beginning of the message."),
  assignee: text("Who the conversation is assigned to."),
  inbox: text("The inbox."),
  status: text("The status of the conversation.", "assigned"),
} as const satisfies DataFields;

/** Front's rule webhooks: https://dev.frontapp.com/docs/rule-webhooks. */
export const sharedInbox: Provider = {
  id: "shared_inbox",
  displayName: "Front",
  signature: {
    kind: "hmac",
    algorithm: "sha1",
    encoding: "base64",
    from: ["header.x-inbox-signature", "header.x-front-signature"],
    // The service signs the JSON without white space, whatever it sends.
    signs: ["{body}", "{compactJson}"],
  },
  deliveryIdIsSigned: true,
  // Application webhooks use another scheme, which signs the time in this header.
  foreignHeaders: ["x-front-request-timestamp"],
  setUp: 'Use a rule with the action "trigger a webhook".',
  destinations: ["api2.frontapp.com", "*.api.frontapp.com"],
  maxBodyBytes: 5 * 1024 * 1024,
  data,
  interpret,
  notify: [notifyConversation],
  samples,
};

/** Unless "Send full event data" is on, `conversation`, `source` and `target` contain little more than ids. */
function interpret({ payload }: VerifiedRequest): Interpretation {
  const name = eventNameAt(payload, "type", listed);
  const type = listed.get(name);
  const conversationId = idAt(payload, "conversation", "id");
  const actor = actorOf(type, payload);
  const assignee = type === "assignee.changed" && name !== "unassign" ? assigneeOf(payload) : null;
  return {
    status: type === undefined ? "ignored" : "accepted",
    type: type ?? typeName(name),
    deliveryId: idAt(payload, "id"),
    occurredAt: unixSecondsAt(payload, "emitted_at"),
    subject: conversationId && `conversation/${conversationId}`,
    title:
      type === undefined
        ? ignoredTitle(typeName(name), topicOf(payload))
        : joined(": ", happening(name, actor, assignee), topicOf(payload)),
    url: conversationId && `https://app.frontapp.com/open/${encodeURIComponent(conversationId)}`,
    actor,
    data: dataOf(data, {
      subject: firstLineAt(payload, "conversation", "subject"),
      preview: firstLineAt(payload, "target", "data", "blurb"),
      assignee,
      inbox: firstLineAt(itemsAt(payload, "source", "data")[0], "name"),
      status: firstLineAt(payload, "conversation", "status"),
    }),
  };
}

function actorOf(type: string | undefined, payload: JsonObject): string | null {
  switch (type) {
    case "message.received":
      return senderOf(payload) ?? firstLineAt(payload, "conversation", "recipient", "handle");
    case "message.sent":
      return (
        firstLineAt(payload, "target", "data", "author", "username") ??
        firstLineAt(payload, "target", "data", "author", "email")
      );
    default:
      return sourceOf(payload);
  }
}

function senderOf(payload: JsonObject): string | null {
  const recipients = itemsAt(payload, "target", "data", "recipients");
  return firstLineAt(
    recipients.find((recipient) => at(recipient, "role") === "from"),
    "handle",
  );
}

/** A teammate, a rule, or the API, whose `source` has no data. */
function sourceOf(payload: JsonObject): string | null {
  const kind = firstLineAt(payload, "source", "_meta", "type");
  const name =
    firstLineAt(payload, "source", "data", "username") ??
    firstLineAt(payload, "source", "data", "name") ??
    idAt(payload, "source", "data", "id");
  return kind === "rule" ? joined(" ", "rule", name) : (name ?? kind);
}

function assigneeOf(payload: JsonObject): string | null {
  return (
    firstLineAt(payload, "target", "data", "username") ??
    firstLineAt(payload, "conversation", "assignee", "username") ??
    idAt(payload, "target", "data", "id")
  );
}

/** The first half of the title of a listed event; the topic follows. */
function happening(name: string | null, actor: string | null, assignee: string | null): string {
  switch (name) {
    case "inbound":
    case "message.received":
      return actor === null ? "Message received" : `Message from ${actor}`;
    case "out_reply":
      return joined(" by ", "Reply sent", actor);
    case "assign":
      return joined(" to ", "Assigned", assignee);
    case "unassign":
      return "Unassigned";
    case "assignee.changed":
      return joined(" to ", "Assignee changed", assignee);
    default:
      return joined(" by ", "Message sent", actor);
  }
}

function topicOf(payload: JsonObject): string | null {
  const conversationId = idAt(payload, "conversation", "id");
  return (
    firstLineAt(payload, "conversation", "subject") ??
    (conversationId && `conversation ${conversationId}`)
  );
}

function notifyConversation(event: EventContent): NewNotification {
  const text = joined(
    " · ",
    event.type === "assignee.changed" ? event.actor && `by ${event.actor}` : null,
    textAt(event.data, "preview"),
    textAt(event.data, "inbox"),
  );
  return { title: event.title, text, url: event.url, severity: "info" };
}
