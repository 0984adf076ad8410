import { dataOf, firstLineAt, isoTimeAt, joined, objectAt, textAt, urlAt } from "../payload.ts";
import type { Delivery, JsonObject, Normalised, NotifyFunction, Provider } from "../provider.ts";

import { samples } from "./task_tracker.samples.ts";

/** The service's `event_name`s that are listed, by our names for them. */
const listed: Readonly<Record<string, string>> = {
  "note:added": "comment.added",
  "item:completed": "task.completed",
  "item:added": "task.created",
};

/** Todoist: https://developer.todoist.com/sync/v9/#webhooks. Signs with the app's client secret. */
export const taskTracker: Provider = {
  id: "task_tracker",
  displayName: "Task tracker (Todoist)",
  signature: {
    algorithm: "sha256",
    encoding: "base64",
    headers: ["x-tasktracker-hmac-sha256", "x-todoist-hmac-sha256"],
    signed: "raw",
  },
  deliveryIdIsSigned: false,
  maxBodyBytes: 5 * 1024 * 1024,
  normalise,
  notify: [notifyTask],
  samples,
};

function normalise({ payload, header }: Delivery): Normalised {
  const name = textAt(payload, "event_name") ?? "unknown";
  const type = Object.hasOwn(listed, name) ? listed[name] : undefined;
  const thing = objectAt(payload, "event_data");
  const isComment = type === "comment.added";
  // A comment belongs to a task, or to a project when it has no task.
  const task = isComment ? objectAt(thing, "item") : thing;
  const taskId = textAt(isComment ? thing : task, isComment ? "item_id" : "id");
  const projectId = textAt(thing, "project_id");
  return {
    status: type === undefined ? "ignored" : "accepted",
    type: type ?? name,
    deliveryId: header("x-tasktracker-delivery-id", "x-todoist-delivery-id"),
    occurredAt: isoTimeAt(payload, "triggered_at"),
    subject: taskId === null ? projectId && `project/${projectId}` : `task/${taskId}`,
    title: titleOf(type ?? name, thing, task),
    url: urlAt(thing, "url") ?? (taskId && `https://app.todoist.com/app/task/${taskId}`),
    actor: textAt(payload, "initiator", "full_name") ?? textAt(thing, "posted_uid"),
    data: dataOf({
      task: firstLineAt(task, "content"),
      comment: isComment ? firstLineAt(thing, "content") : null,
      due: textAt(task, "due", "string"),
      recurring: objectAt(task, "due")["is_recurring"] === true ? true : null,
      priority: textAt(task, "priority"),
      projectId,
    }),
  };
}

function titleOf(type: string, thing: JsonObject, task: JsonObject): string {
  const taskName = firstLineAt(task, "content");
  switch (type) {
    case "comment.added": {
      const where = taskName ?? "a project";
      return `Comment on ${where}: ${firstLineAt(thing, "content") ?? "(no text)"}`;
    }
    case "task.completed": {
      const recurring = objectAt(task, "due")["is_recurring"] === true;
      return `Task completed${recurring ? " (recurring)" : ""}: ${taskName ?? "(no name)"}`;
    }
    case "task.created":
      return joined("", `Task created: ${taskName ?? "(no name)"}`, dueSuffix(task));
    default:
      return `Ignored: ${type}`;
  }
}

function dueSuffix(task: JsonObject): string | null {
  const due = textAt(task, "due", "string");
  return due && ` (due ${due})`;
}

function notifyTask(event: Parameters<NotifyFunction>[0]): ReturnType<NotifyFunction> {
  return {
    title: event.title,
    text: joined(" · ", event.actor && `by ${event.actor}`, event.subject),
    url: event.url,
    severity: event.type === "task.completed" ? "success" : "info",
  };
}
