import { Type } from "@sinclair/typebox";

import {
  firstLineAt,
  idAt,
  idOf,
  isoTimeAt,
  isTrueAt,
  joined,
  type JsonObject,
  objectAt,
  textAt,
  urlAt,
} from "../../base/payload.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { EventContent } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import { text } from "../../web/schema.ts";

import { dataOf, eventNameAt, ignoredTitle, listing, typeName } from "./event-fields.ts";
import type { Interpretation, Provider, VerifiedRequest } from "./provider.ts";
import { samples } from "./task_tracker.samples.ts";

/** Keyed by the service's `event_name`. */
const listed = listing({
  "note:added": "comment.added",
  "item:completed": "task.completed",
  "item:added": "task.created",
});

const data = {
  task: text("The task."),
  comment: text("The comment."),
  due: text("When the task is due, as it was written.", "every Monday"),
  recurring: Type.Literal(true, { description: "Present if the task repeats." }),
  priority: text("The priority, 1 to 4.", "4"),
  projectId: text("The project."),
} as const satisfies DataFields;

/** Todoist: https://developer.todoist.com/sync/v9/#webhooks. Signs with the app's client secret. */
export const taskTracker: Provider = {
  id: "task_tracker",
  displayName: "Todoist",
  signature: {
    kind: "hmac",
    algorithm: "sha256",
    encoding: "base64",
    from: ["header.x-tasktracker-hmac-sha256", "header.x-todoist-hmac-sha256"],
    signs: "{body}",
  },
  deliveryIdIsSigned: false,
  readHeaders: ["x-tasktracker-delivery-id", "x-todoist-delivery-id"],
  setUp: "Use the webhooks tab of its application console. The secret is the client secret.",
  destinations: ["api.todoist.com"],
  maxBodyBytes: 5 * 1024 * 1024,
  data,
  interpret,
  notify: [notifyTask],
  samples,
};

function interpret({ payload, header }: VerifiedRequest): Interpretation {
  const name = eventNameAt(payload, "event_name", listed);
  const type = listed.get(name);
  const thing = objectAt(payload, "event_data");
  const isTask = name?.startsWith("item:") || type?.startsWith("task.") || false;
  // A comment belongs to a task or a project.
  const task = isTask ? thing : objectAt(thing, "item");
  const taskId = isTask ? idAt(thing, "id") : idAt(thing, "item_id");
  const projectId = idAt(thing, "project_id") ?? idAt(task, "project_id");
  const subject = taskId ? `task/${taskId}` : projectId && `project/${projectId}`;
  return {
    status: type === undefined ? "ignored" : "accepted",
    type: type ?? typeName(name),
    deliveryId: idOf(header("x-tasktracker-delivery-id", "x-todoist-delivery-id")),
    occurredAt: isoTimeAt(payload, "triggered_at"),
    subject,
    title: titleOf(type ?? typeName(name), thing, task),
    url: urlAt(thing, "url") ?? (subject && `https://app.todoist.com/app/${encodeURI(subject)}`),
    // `user_id` is the recipient of the request, not the actor.
    actor: textAt(payload, "initiator", "full_name") ?? textAt(thing, "posted_uid"),
    data: dataOf(data, {
      task: firstLineAt(task, "content"),
      comment: isTask ? null : firstLineAt(thing, "content"),
      due: firstLineAt(task, "due", "string"),
      recurring: isRecurring(task) ? true : null,
      priority: textAt(task, "priority"),
      projectId,
    }),
  };
}

function titleOf(type: string, thing: JsonObject, task: JsonObject): string {
  const taskName = firstLineAt(task, "content");
  switch (type) {
    case "comment.added": {
      const where = taskName ?? (idAt(thing, "project_id") && "a project");
      const added = where === null ? "Comment added" : `Comment on ${where}`;
      return joined(": ", added, firstLineAt(thing, "content"));
    }
    case "task.completed":
      return joined(": ", `Task completed${isRecurring(task) ? " (recurring)" : ""}`, taskName);
    case "task.created": {
      const due = firstLineAt(task, "due", "string");
      return joined(" ", joined(": ", "Task created", taskName), due && `(due ${due})`);
    }
    default:
      return ignoredTitle(type, taskName);
  }
}

/** Completing a recurring task reopens it at once, with `checked` false. */
function isRecurring(task: JsonObject): boolean {
  return isTrueAt(task, "due", "is_recurring");
}

function notifyTask(event: EventContent): NewNotification {
  return {
    title: event.title,
    text: joined(" · ", event.actor && `by ${event.actor}`, event.subject),
    url: event.url,
    severity: event.type === "task.completed" ? "success" : "info",
  };
}
