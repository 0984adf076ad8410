import type { Clock } from "../../../base/clock.ts";
import { cloudEvent } from "../cloud-event.ts";
import type { Event } from "../../event.ts";
import { type TraceContext, traceHeaders } from "../../../telemetry/tracing/trace-context.ts";
import type { Notification } from "../../notification.ts";

/** The result of a delivery attempt. */
export interface SendResult {
  readonly delivered: boolean;
  /** The gateway's HTTP status, or null if it did not respond. */
  readonly responseStatus: number | null;
  /** Why it was not delivered. Shown to operators. */
  readonly error: string | null;
  /** The gateway's `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | null;
}

export type Sendable = Pick<
  Notification,
  "id" | "title" | "text" | "url" | "severity" | "createdAt"
>;

/** The operator gateway: an HTTP endpoint that accepts signed CloudEvents. */
export interface Gateway {
  /** Posts one notification. Never throws. Ends within the time-out or when `signal` aborts. */
  send(
    notification: Sendable,
    event: Event,
    trace: DeliveryTrace | null,
    signal: AbortSignal,
  ): Promise<SendResult>;
}

/** The trace contexts sent to the gateway. */
export interface DeliveryTrace {
  /** The trace of the request that created the event, the same for every attempt. Null if unknown. */
  readonly origin: TraceContext | null;
  /** The trace of this attempt. */
  readonly attempt: TraceContext;
}

const timeoutMs = 10_000;
/** Maximum bytes read from an error response. */
const maxExcerptBytes = 200;

export function gateway(url: string, key: Uint8Array, clock: Clock): Gateway {
  return {
    async send(notification, event, trace, signal) {
      const origin = trace?.origin ? traceHeaders(trace.origin) : null;
      const body = JSON.stringify(cloudEvent(event, dataOf(notification, event), origin));
      const seconds = Math.floor(clock.now() / 1_000);
      const tooLate = new AbortController();
      const cancelTimeout = clock.after(timeoutMs, () => tooLate.abort());
      try {
        const response = await fetch(url, {
          method: "POST",
          // A redirect could send the notification to an unintended recipient.
          redirect: "manual",
          signal: AbortSignal.any([signal, tooLate.signal]),
          headers: {
            "content-type": "application/cloudevents+json; charset=utf-8",
            "user-agent": "Skyhook",
            "webhook-id": notification.id,
            "webhook-timestamp": String(seconds),
            "webhook-signature": standardSignature(key, notification.id, seconds, body),
            ...(trace !== null && traceHeaders(trace.attempt)),
          },
          body,
        });
        return await resultOf(response, clock.now());
      } catch (error) {
        return {
          delivered: false,
          responseStatus: null,
          error: tooLate.signal.aborted
            ? `no answer within ${timeoutMs / 1_000} s`
            : reasonOf(error),
          retryAfterMs: null,
        };
      } finally {
        cancelTimeout();
      }
    },
  };
}

function dataOf({ id, title, text, url, severity, createdAt }: Sendable, event: Event) {
  return { notificationId: id, title, text, url, severity, createdAt, event };
}

/** `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks, "Signature scheme"). */
export function standardSignature(
  key: Uint8Array,
  id: string,
  seconds: number,
  body: string,
): string {
  const mac = new Bun.CryptoHasher("sha256", key).update(`${id}.${seconds}.${body}`);
  return `v1,${mac.digest("base64")}`;
}

async function resultOf(response: Response, nowMs: number): Promise<SendResult> {
  if (response.ok) {
    await response.body?.cancel();
    return { delivered: true, responseStatus: response.status, error: null, retryAfterMs: null };
  }
  const excerpt = await excerptOf(response);
  return {
    delivered: false,
    responseStatus: response.status,
    error: `HTTP ${response.status}${excerpt === "" ? "" : `: ${excerpt}`}`,
    retryAfterMs: retryAfterMs(response.headers.get("retry-after"), nowMs),
  };
}

/** The first bytes of a response on one line. Does not read the rest. */
async function excerptOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const { value } = await reader.read();
  await reader.cancel();
  const text = new TextDecoder().decode(value?.subarray(0, maxExcerptBytes));
  return text.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
}

/** Parses `Retry-After`, seconds or an HTTP date (RFC 9110 section 10.2.3), to milliseconds. Null if invalid. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  // `Date.parse` also accepts "1.5". HTTP dates end with GMT.
  const at = header.endsWith(" GMT") ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown error";
}
