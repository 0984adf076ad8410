import { TransportError } from "../transports/transport.ts";

import { type FormatInfo, jsonType, type Render, type Rendering } from "./format.ts";
import { dataOf } from "./json.ts";
import { keyOf, signedHeaders } from "./standard-webhooks.ts";

/** The deliveries of MCP Events (SEP-3415) to the callback of an agent. */
export const mcp = {
  label: "MCP event",
  address: "The callback of an agent’s subscription",
  transport: "http",
  secret: "subscriber",
} as const satisfies FormatInfo;

/** Names the subscription of a delivery. */
export const subscriptionHeader = "x-mcp-subscription-id";

/** The largest body that every client accepts. */
const maxBodyBytes = 256 * 1024;
export const bodyTooLarge = "the message is larger than 256 KiB";

/** An event as agents receive it, whether it is delivered or polled. */
export interface Occurrence extends ReturnType<typeof occurrenceOf> {}

export function occurrenceOf(of: Pick<Rendering, "notification" | "event">) {
  const { id: eventId, provider, type, occurredAt } = of.event;
  const name = `${provider}.${type}`;
  return { eventId, name, timestamp: occurredAt.toISOString(), data: dataOf(of) };
}

/** `webhook-id` is the event's id, because clients check that it equals `eventId`. */
export const renderMcp: Render = (rendering) => {
  const { event, secrets, atMs } = rendering;
  const body = JSON.stringify(occurrenceOf(rendering));
  if (Buffer.byteLength(body) > maxBodyBytes) {
    throw new TransportError(bodyTooLarge, { isFinal: true });
  }
  const headers = signedHeaders(secrets.map(keyOf), event.id, atMs, body);
  return { headers: { ...jsonType, ...headers }, body };
};
