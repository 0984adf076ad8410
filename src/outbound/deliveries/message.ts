import type { Destination } from "../destination.ts";
import { cloudEvent } from "../formats/cloud-event.ts";
import type { PostRequest } from "../transports/post.ts";
import type { Message } from "../transports/transport.ts";

import type { Sent } from "./render.ts";

/**
 * The message that carries a request. Its id is the same for every attempt, and another one for another destination: two
 * of them may share a queue, which would take the second message for a repeat of the first.
 */
export function messageOf(
  { id, format }: Pick<Destination, "id" | "format">,
  { notification, event }: Sent,
  request: PostRequest,
  orderKey: string | null,
): Message {
  return {
    headers: request.headers,
    body: request.body,
    // Mail programs show a repeated message once, also one of another destination.
    id: format === "email" ? notification.id : `${notification.id}.${id}`,
    event: { id: event.id, provider: event.provider, type: event.type, createdAt: event.createdAt },
    attributes: format === "cloudevents" ? null : attributesOf(event),
    orderKey,
  };
}

/** What a CloudEvent in binary mode has outside of its body, as text (CloudEvents 1.0, "Type System"). */
function attributesOf(event: Sent["event"]): Message["attributes"] {
  const { data: _, datacontenttype: __, ...attributes } = cloudEvent(event, null);
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, String(value)]),
  );
}
