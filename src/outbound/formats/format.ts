import type { Event } from "../../event/event.ts";
import type { NewNotification } from "../../event/new-notification.ts";
import type { TraceHeaders } from "../../telemetry/tracing/trace-context.ts";
import type { PostRequest } from "../transports/post.ts";

import type { BodyTemplate } from "./body-template.ts";

/** The notification of a delivery. */
export interface SentNotification extends NewNotification {
  readonly id: `ntf_${string}`;
  readonly createdAt: Date;
}

/** What creating a destination takes: plain data, which the console's page shows too. */
export interface FormatInfo {
  /** Its name in the console. */
  readonly label: string;
  /** What its URL is. Without a scheme: the console's page names no other origin. */
  readonly url: string;
  readonly transport: "http" | "smtp";
  /**
   * `made`: Skyhook makes a secret and signs with it, so users may choose the format. Otherwise the user gives one, or
   * the URL holds it (null).
   */
  readonly secret: "made" | { readonly label: string; readonly of: string } | null;
}

/** One delivery to render. */
export interface Rendering {
  readonly notification: SentNotification;
  readonly event: Event;
  /** The trace of the request that created the event, or null. */
  readonly origin: TraceHeaders | null;
  /** The destination's secrets, the current one first, then one that is being replaced. */
  readonly secrets: readonly string[];
  /** The time of the attempt, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Replaces the usual body of `json`; null if the destination has none. */
  readonly template: BodyTemplate | null;
}

/** Renders a delivery for a service. Pure; escapes and shortens all text of the payload. */
export type Render = (rendering: Rendering) => TextRequest;

interface TextRequest extends PostRequest {
  readonly body: string;
}

export const jsonType = { "content-type": "application/json; charset=utf-8" } as const;

/** Shortens text to a service's limit in UTF-16 code units, without splitting a character. */
export function shortened(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const head = text.slice(0, maxLength - 1);
  return `${head.isWellFormed() ? head : head.slice(0, -1)}…`;
}

const maxLinkLength = 2_000;

/** A link that a message may offer; null for any other scheme and for a URL over the limit. */
export function safeLink(url: string | null): string | null {
  const parsed = url === null ? null : URL.parse(url);
  const isWeb = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  return parsed !== null && isWeb && parsed.href.length <= maxLinkLength ? parsed.href : null;
}

/** The line below a message: where the event came from. */
export function originOf({ provider, type, actor }: Event): string {
  return [provider, type, actor].filter((part) => part !== null && part !== "").join(" · ");
}
