import type { Event } from "../../event/event.ts";
import type { PostRequest } from "../transports/post.ts";

import type { FormatInfo, Rendering } from "./format.ts";
import { keyOf, signedHeaders } from "./standard-webhooks.ts";

export const original = {
  label: "Original of the provider, signed",
  url: "The URL of your service. It verifies with the provider’s own library and secret.",
  transport: "http",
  secret: "made",
} as const satisfies FormatInfo;

/** A provider's request: its exact body, and the headers that its service's library reads. */
export interface OriginalRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * The request of an event, signed again for `url` at `atMs` as the provider signs, so that a retry after hours is not too
 * old. Throws a `MissingOriginal` for events that Skyhook creates, and once retention has deleted the body.
 */
export type OriginalOf = (event: Event, url: string, atMs: number) => Promise<OriginalRequest>;

/** There is nothing to send, now or later. */
export class MissingOriginal extends Error {
  override readonly name = "MissingOriginal";
}

/** Adds Skyhook's signature (Standard Webhooks) under names of its own, because a provider may use the usual ones. */
export function renderOriginal(
  { notification, secrets, atMs }: Rendering,
  { headers, body }: OriginalRequest,
): PostRequest {
  const own = signedHeaders(secrets.map(keyOf), notification.id, atMs, body);
  const renamed = Object.entries(own).map(([name, value]) => [`skyhook-${name}`, value]);
  return { headers: { ...headers, ...Object.fromEntries(renamed) }, body };
}
