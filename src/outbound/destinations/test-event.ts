import { emptyFields, type Event } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";

/** What a test of a destination sends. It is not stored. */
export function testEvent(id: Event["id"], nowMs: number): Event {
  return {
    id,
    provider: "skyhook",
    type: "destination.test",
    status: "accepted",
    idempotencyKey: `skyhook:${id}`,
    occurredAt: new Date(nowMs),
    createdAt: new Date(nowMs),
    title: "Test from Skyhook",
    ...emptyFields,
  };
}

export function testNotification({ title }: Event): NewNotification {
  const text = "If you can read this, the destination works.";
  return { title, text, url: null, severity: "info" };
}
