import type { SampleDelivery } from "../provider.ts";

const task = {
  id: "6XR4GqQQCW6Gv9h4",
  user_id: "2671355",
  project_id: "6XR4H993xv8H5qCR",
  section_id: null,
  parent_id: null,
  added_by_uid: "2671355",
  responsible_uid: null,
  content: "Rotate the signing keys",
  description: "",
  labels: ["ops"],
  priority: 1,
  checked: false,
  is_deleted: false,
  due: { date: "2026-12-21", string: "every month", lang: "en", is_recurring: true },
  deadline: null,
  added_at: "2026-10-01T08:00:00.000000Z",
  completed_at: null,
  updated_at: "2026-10-01T08:00:00.000000Z",
  url: "https://app.todoist.com/app/task/6XR4GqQQCW6Gv9h4",
};

/** The envelope that every event comes in. */
const delivery =
  (eventName: string, eventData: (now: string) => object): SampleDelivery =>
  ({ id, now }) => ({
    headers: { "X-TaskTracker-Delivery-ID": id, "User-Agent": "Todoist-Webhooks" },
    body: {
      event_name: eventName,
      user_id: "2671355",
      event_data: eventData(now.toISOString()),
      initiator: {
        id: "2671355",
        full_name: "Ada Ops",
        email: "ada@example.com",
        image_id: null,
        is_premium: true,
      },
      triggered_at: now.toISOString(),
      version: "10",
    },
  });

export const samples: Readonly<Record<string, SampleDelivery>> = {
  "comment.added": delivery("note:added", (now) => ({
    id: "6XR7v7cXW2vJ2c4p",
    posted_uid: "2671355",
    item_id: task.id,
    content: "Done on host A, B waits",
    posted_at: now,
    file_attachment: null,
    reactions: null,
    is_deleted: false,
    url: `${task.url}#comment-6XR7v7cXW2vJ2c4p`,
    item: task,
  })),
  "task.completed": delivery("item:completed", (now) => ({
    ...task,
    checked: true,
    completed_at: now,
    updated_at: now,
  })),
  "task.created": delivery("item:added", (now) => ({ ...task, added_at: now, updated_at: now })),
};
