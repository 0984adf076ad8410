import type { Fresh, Sample } from "./provider.ts";

const task = ({ id }: Fresh) => ({
  id: `6XR4${id.slice(-12)}`,
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
  url: `https://app.todoist.com/app/task/6XR4${id.slice(-12)}`,
});

/** The envelope of every event. */
const request =
  (eventName: string, eventData: (fresh: Fresh, now: string) => object): Sample =>
  (fresh) => ({
    headers: { "X-TaskTracker-Delivery-ID": fresh.id, "User-Agent": "Todoist-Webhooks" },
    body: {
      event_name: eventName,
      user_id: "2671355",
      event_data: eventData(fresh, fresh.now.toISOString()),
      initiator: {
        id: "2671355",
        full_name: "Ada Ops",
        email: "ada@example.com",
        image_id: null,
        is_premium: true,
      },
      triggered_at: fresh.now.toISOString(),
      version: "10",
    },
  });

export const samples: Readonly<Record<string, Sample>> = {
  "comment.added": request("note:added", (fresh, now) => {
    const item = task(fresh);
    return {
      id: `6XR7${fresh.id.slice(-12)}`,
      posted_uid: "2671355",
      item_id: item.id,
      content: "Done on host A, B waits",
      posted_at: now,
      file_attachment: null,
      reactions: null,
      is_deleted: false,
      url: `${item.url}#comment-6XR7${fresh.id.slice(-12)}`,
      item,
    };
  }),
  "task.completed": request("item:completed", (fresh, now) => ({
    ...task(fresh),
    checked: true,
    completed_at: now,
    updated_at: now,
  })),
  "task.created": request("item:added", (fresh, now) => ({
    ...task(fresh),
    added_at: now,
    updated_at: now,
  })),
};
