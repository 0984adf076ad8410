import type { Clock } from "../../base/clock.ts";
import { connectionError, errorMessage } from "../../base/errors.ts";
import { printable } from "../../base/payload.ts";
import type { Resolve } from "../../base/public-address.ts";
import type { Storage } from "../../db/storage.ts";
import { headersOf } from "../../event/event.sql.ts";
import type { Event } from "../../event/event.ts";
import { storedTrace } from "../../telemetry/tracing/stored-trace.ts";
import { type TraceContext, traceHeaders } from "../../telemetry/tracing/trace-context.ts";
import type { Tracer } from "../../telemetry/tracing/tracer.ts";
import type { DestinationSecrets } from "../destination-secrets.ts";
import { type Destination, operatorGateway } from "../destination.ts";
import { renderEmail } from "../formats/email.ts";
import type { Render, SentNotification } from "../formats/format.ts";
import { formatInfo, httpFormat } from "../formats/formats.ts";
import {
  type AddressRules,
  destinationUrl,
  type PrivateAllowed,
  publicAddressesOf,
  rulesFor,
} from "../transports/address.ts";
import { mailboxOf, sendMail } from "../transports/mail.ts";
import { poster, type PostResponse } from "../transports/post.ts";

/** The result of a delivery attempt. */
export interface SendResult {
  readonly delivered: boolean;
  /** The destination's HTTP status, or null if it did not respond or is not reached by HTTP. */
  readonly responseStatus: number | null;
  /** Why it was not delivered. Shown to operators. */
  readonly error: string | null;
  /** The destination's `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | null;
}

/** The trace contexts sent to the destination. */
export interface DeliveryTrace {
  /** The trace of the request that created the event, the same for every attempt. Null if unknown. */
  readonly origin: TraceContext | null;
  /** The trace of this attempt. */
  readonly attempt: TraceContext;
}

/** An error may repeat what the destination said. It is stored with each attempt. */
const maxErrorCharacters = 500;

/** Sends one notification. Never throws. Ends within ten seconds, or when `signal` aborts. */
export type Send = (
  notification: SentNotification,
  event: Event,
  trace: DeliveryTrace | null,
  signal: AbortSignal,
) => Promise<SendResult>;

export interface SendParts {
  readonly clock: Clock;
  readonly privateAllowed: PrivateAllowed;
  readonly resolve: Resolve;
}

interface RuledParts extends Pick<SendParts, "clock" | "resolve"> {
  readonly rules: AddressRules;
}

/** Returns how to send to a destination. */
export function sender(
  parts: SendParts,
  { id, format, ownerId }: Pick<Destination, "id" | "format" | "ownerId">,
  secrets: DestinationSecrets,
): Send {
  // The operators' own setting may name a private address.
  const rules =
    id === operatorGateway.id ? { allowsPrivate: true } : rulesFor(parts.privateAllowed, ownerId);
  const deliver =
    formatInfo(format)?.transport === "smtp"
      ? sendByMail({ ...parts, rules }, secrets)
      : sendByHttp({ ...parts, rules }, httpFormat(format), secrets);
  return async (notification, event, trace, signal) => {
    try {
      return await deliver(notification, event, trace, signal);
    } catch (error) {
      const said = connectionError(error) ?? errorMessage(error);
      const reason = printable(said, maxErrorCharacters) ?? "unknown error";
      return { delivered: false, responseStatus: null, error: reason, retryAfterMs: null };
    }
  };
}

function sendByHttp(
  { clock, rules, resolve }: RuledParts,
  render: Render,
  secrets: DestinationSecrets,
): Send {
  const post = poster({
    clock,
    addressesOf: async (url) => (rules.allowsPrivate ? null : publicAddressesOf(url, resolve)),
  });
  return async (notification, event, trace, signal) => {
    const atMs = clock.now();
    const origin = trace?.origin ? traceHeaders(trace.origin) : null;
    const keys = secretsAt(secrets, atMs);
    const rendered = render({ notification, event, origin, secrets: keys, atMs });
    const headers = { ...rendered.headers, ...(trace !== null && traceHeaders(trace.attempt)) };
    const url = rules.allowsPrivate
      ? new URL(secrets.address)
      : destinationUrl(secrets.address, rules);
    return resultOf(await post(url, { ...rendered, headers }, signal));
  };
}

function secretsAt({ secret, previous }: DestinationSecrets, nowMs: number): readonly string[] {
  const older = previous !== null && previous.untilMs > nowMs ? [previous.secret] : [];
  return secret === null ? older : [secret, ...older];
}

function resultOf({ status, retryAfterMs, excerpt }: PostResponse): SendResult {
  if (status >= 200 && status < 300) {
    return { delivered: true, responseStatus: status, error: null, retryAfterMs: null };
  }
  const error = `HTTP ${status}${excerpt === "" ? "" : `: ${excerpt}`}`;
  return { delivered: false, responseStatus: status, error, retryAfterMs };
}

function sendByMail({ rules, resolve }: RuledParts, { address }: DestinationSecrets): Send {
  return async (notification, event, _, signal) => {
    await sendMail(
      mailboxOf(address, rules),
      renderEmail(notification, event),
      rules,
      resolve,
      signal,
    );
    return { delivered: true, responseStatus: null, error: null, retryAfterMs: null };
  };
}

interface TraceParts {
  readonly storage: Storage;
  /** Null where traces are off. */
  readonly tracer: Tracer | null;
}

/** Sends in a separate span, in the trace of the request that created the event. */
export async function sendTraced(
  { storage, tracer }: TraceParts,
  send: Send,
  notification: SentNotification,
  event: Event,
  earlierAttempts: number,
  signal: AbortSignal,
): Promise<SendResult> {
  if (tracer === null) return send(notification, event, null, signal);
  const [kept] = await storage.all(headersOf, { id: event.id });
  const origin = storedTrace(kept?.headers ?? null);
  const span = tracer.start("notification delivery", {
    kind: "client",
    parent: origin,
    attributes: {
      "http.request.method": "POST",
      "http.request.resend_count": earlierAttempts,
      "cloudevents.event_id": event.id,
    },
  });
  const result = await send(notification, event, { origin, attempt: span.context }, signal);
  const { delivered, responseStatus: status } = result;
  if (status !== null) span.set({ "http.response.status_code": status });
  // An attempt interrupted by the stop is not an error.
  const error = { type: String(status ?? "no-answer"), isServerError: !signal.aborted };
  span.end(delivered ? undefined : error);
  return result;
}
