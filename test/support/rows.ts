import { emptyEvent, type StoredEvent } from "../../src/gateway/event.ts";
import type { Notification } from "../../src/gateway/notification.ts";

/** An event row to store; `number` makes it unique. */
export function eventRow(number: number, fields: Partial<StoredEvent> = {}): StoredEvent {
  const at = new Date(Date.UTC(2026, 10, 21) + number);
  return {
    ...emptyEvent,
    id: `evt_${number.toString(16).padStart(32, "0")}`,
    provider: "task_tracker",
    type: "task.completed",
    status: "accepted",
    idempotencyKey: `task_tracker:${number}`,
    occurredAt: at,
    createdAt: at,
    title: `Event ${number}`,
    data: { number, nothing: null },
    headers: { host: "localhost" },
    address: "127.0.0.1",
    signedWith: "current",
    bodyBytes: 2,
    body: Buffer.from("{}"),
    ...fields,
  };
}

export function notificationRow(
  number: number,
  fields: Partial<Notification> = {},
): Notification & { readonly leasedUntil: null } {
  const at = new Date(Date.UTC(2026, 10, 21) + number);
  return {
    id: `ntf_${number.toString(16).padStart(32, "0")}`,
    eventId: `evt_${number.toString(16).padStart(32, "0")}`,
    createdAt: at,
    title: `Notification ${number}`,
    text: "",
    url: null,
    severity: "info",
    status: "pending",
    attemptCount: 0,
    dueAt: at,
    deliveredAt: null,
    lastError: null,
    ...fields,
    leasedUntil: null,
  };
}
