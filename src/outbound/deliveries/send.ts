import type { Clock } from "../../base/clock.ts";
import { connectionError, errorMessage } from "../../base/errors.ts";
import { printable } from "../../base/payload.ts";
import type { Resolve } from "../../base/public-address.ts";
import { storedTrace } from "../../telemetry/tracing/stored-trace.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";
import { containUncaught } from "../../telemetry/uncaught.ts";
import { cloudEvent } from "../formats/cloud-event.ts";
import { renderEmail } from "../formats/email.ts";
import { MissingOriginal, type OriginalOf } from "../formats/original.ts";
import type { DestinationSecrets } from "../model/destination-secrets.ts";
import { type Destination, rulesOf } from "../model/destination.ts";
import {
  addressLookup,
  type AddressRules,
  destinationUrl,
  type PrivateAllowed,
} from "../transports/address.ts";
import { postWithToken } from "../transports/bearer-token.ts";
import { brokers } from "../transports/brokers/brokers.ts";
import { poster, type PostRequest, type PostResponse } from "../transports/post.ts";
import { type Message, type Platform, TransportError } from "../transports/transport.ts";

import { orderKeyOf } from "./order-key.ts";
import {
  type Contents,
  type DeliveryTrace,
  type MessageItem,
  renderer,
  type RenderFor,
} from "./render.ts";

/** The result of a delivery attempt. */
export interface SendResult {
  readonly delivered: boolean;
  /** The destination's HTTP status, or null if it did not respond or is not reached by HTTP. */
  readonly responseStatus: number | null;
  /** Why it was not delivered. Shown to operators. */
  readonly error: string | null;
  /** The destination's `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** Whether no retry can succeed. */
  readonly isFinal: boolean;
}

/** Statuses after which no retry can succeed (RFC 9110, 15.5.11 and 15.5.14). */
export const goneStatus = 410;
export const contentTooLargeStatus = 413;

/** An error may repeat what the destination said. It is stored with each attempt. */
const maxErrorCharacters = 500;

/** Sends one message. Never throws. Ends within ten seconds, or when `signal` aborts. */
export type Send = (
  contents: Contents,
  trace: DeliveryTrace | null,
  signal: AbortSignal,
) => Promise<SendResult>;

/** How to send to a destination. */
export interface Sender {
  readonly send: Send;
  /** Ends its connection, which the next message opens again. */
  readonly close: () => void;
}

export interface SendParts {
  readonly clock: Clock;
  readonly privateAllowed: PrivateAllowed;
  readonly resolve: Resolve;
  readonly originalOf: OriginalOf;
  readonly platform: Platform;
}

interface RuledParts extends SendParts {
  readonly rules: AddressRules;
}

/** Throws for a format or transport that a newer version stored. */
export function sender(
  parts: SendParts,
  destination: Destination,
  secrets: DestinationSecrets,
): Sender {
  const rules = rulesOf(destination, parts.privateAllowed);
  const { send: deliver, close } = senderBy({ ...parts, rules }, destination, secrets);
  const send: Send = async (contents, trace, signal) => {
    try {
      return await deliver(contents, trace, signal);
    } catch (error) {
      const said = connectionError(error) ?? errorMessage(error);
      const reason = printable(said, maxErrorCharacters) ?? "unknown error";
      return failedResult(reason, error);
    }
  };
  return { send, close };
}

const delivered: SendResult = {
  delivered: true,
  responseStatus: null,
  error: null,
  retryAfterMs: null,
  isFinal: false,
};

/** The result of an attempt that threw. */
export function failedResult(reason: string, error: unknown): SendResult {
  const known = error instanceof TransportError ? error : null;
  return {
    delivered: false,
    responseStatus: known?.status ?? null,
    error: reason,
    retryAfterMs: known?.retryAfterMs ?? null,
    isFinal: known?.isFinal ?? error instanceof MissingOriginal,
  };
}

function senderBy(
  parts: RuledParts,
  destination: Destination,
  secrets: DestinationSecrets,
): Sender {
  const { transport } = destination;
  const render: RenderFor =
    transport === "smtp"
      ? async ([{ notification, event }]) => renderEmail(notification, event)
      : renderer(parts, destination, secrets);
  if (transport === "http") return { send: sendByHttp(parts, render, secrets), close: () => {} };
  if (!Object.hasOwn(brokers, transport))
    throw new Error(
      `This version of Skyhook does not know the transport ${transport}. Upgrade this instance.`,
    );
  // A user's destination must never use what the platform gives this server.
  const platform = destination.ownerId === null ? parts.platform : {};
  const connection = brokers[transport].connect(secrets.url, { ...parts, platform });
  return {
    async send(contents, trace, signal) {
      const [sent] = contents;
      const request = await render(contents, trace, parts.clock.now());
      const message = messageOf(destination, sent, request, orderKeyOf(destination, sent.event));
      await containUncaught(() => connection.send(message, signal));
      return delivered;
    },
    close: () => connection.close(),
  };
}

/**
 * The message that carries a request. Its id is the same for every attempt, and another one for another destination: two
 * of them may share a queue, which would take the second message for a repeat of the first.
 */
export function messageOf(
  { id, format }: Pick<Destination, "id" | "format">,
  { notification, event }: MessageItem,
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
function attributesOf(event: MessageItem["event"]): Message["attributes"] {
  const { data: _, datacontenttype: __, ...attributes } = cloudEvent(event, null);
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, String(value)]),
  );
}

function sendByHttp(parts: RuledParts, render: RenderFor, secrets: DestinationSecrets): Send {
  const { clock, rules } = parts;
  const { url: text, tokenUrl } = secrets;
  const plain = poster({ clock, addressesOf: addressLookup(parts) });
  const post = tokenUrl === null ? plain : postWithToken(plain, tokenUrl, parts);
  return async (contents, trace, signal) => {
    const request = await render(contents, trace, clock.now());
    const url = rules.allowsPrivate ? new URL(text) : destinationUrl(text, rules);
    return resultOf(await containUncaught(() => post(url, request, signal)));
  };
}

function resultOf({ status, retryAfterMs, text }: PostResponse): SendResult {
  if (status >= 200 && status < 300) return { ...delivered, responseStatus: status };
  const error = `HTTP ${status}${text === "" ? "" : `: ${text}`}`;
  const isFinal = status === goneStatus || status === contentTooLargeStatus;
  return { delivered: false, responseStatus: status, error, retryAfterMs, isFinal };
}

/** Sends in a separate span, in the trace of the request that created the event. `tracer`: null where traces are off. */
export async function sendTraced(
  tracer: Tracer | null,
  send: Send,
  contents: Contents,
  earlierAttempts: number,
  signal: AbortSignal,
): Promise<SendResult> {
  if (tracer === null) return send(contents, null, signal);
  const [{ event, headers = null }] = contents;
  const origin = storedTrace(headers);
  const span = tracer.start("notification delivery", {
    kind: "client",
    parent: origin,
    attributes: {
      "http.request.method": "POST",
      "http.request.resend_count": earlierAttempts,
      ...(contents.length > 1 && { "messaging.batch.message_count": contents.length }),
      "cloudevents.event_id": event.id,
    },
  });
  const result = await send(contents, { origin, attempt: span.context }, signal);
  const { delivered, responseStatus: status } = result;
  if (status !== null) span.set({ "http.response.status_code": status });
  // An attempt interrupted by the stop is not an error.
  const error = { type: String(status ?? "no-answer"), isServerError: !signal.aborted };
  span.end(delivered ? undefined : error);
  return result;
}
