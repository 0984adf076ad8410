import type { PostRequest } from "../transports/post.ts";

import { cloudEvent } from "./cloud-event.ts";
import { type FormatInfo, jsonType, type Render, type Rendering } from "./format.ts";
import { keyOf, signedHeaders } from "./standard-webhooks.ts";

const signedInfo = {
  url: "The URL of your service. You get a signing secret.",
  transport: "http",
  secret: "made",
} as const;
export const cloudevents = {
  label: "CloudEvents, signed",
  ...signedInfo,
} as const satisfies FormatInfo;
export const json = { label: "JSON, signed", ...signedInfo } as const satisfies FormatInfo;

/** CloudEvents 1.0 in structured mode, signed per Standard Webhooks. */
export const renderCloudevents: Render = (rendering) => {
  const { event, origin } = rendering;
  const body = JSON.stringify(cloudEvent(event, dataOf(rendering), origin));
  const type = { "content-type": "application/cloudevents+json; charset=utf-8" };
  return { headers: { ...type, ...signed(rendering, body) }, body };
};

/** The payload that Standard Webhooks recommends ("Payload structure"): type, timestamp and data. */
export const renderJson: Render = (rendering) => {
  const body = JSON.stringify(documentOf(rendering));
  return { headers: { ...jsonType, ...signed(rendering, body) }, body };
};

/**
 * Several payloads as an array. Its `webhook-id` is the same for the same notifications, and another one if a retry has
 * others: a receiver that has seen the id has seen all of them.
 */
export function renderJsonBatch(renderings: readonly [Rendering, ...Rendering[]]): PostRequest {
  const [first] = renderings;
  const body = JSON.stringify(renderings.map(documentOf));
  const ids = renderings.map(({ notification }) => notification.id).join(" ");
  const id = `batch_${new Bun.CryptoHasher("sha256").update(ids).digest("hex").slice(0, 32)}`;
  const headers = signedHeaders(first.secrets.map(keyOf), id, first.atMs, body);
  return { headers: { ...jsonType, ...headers }, body };
}

function documentOf(rendering: Rendering): unknown {
  const { event, template } = rendering;
  const timestamp = event.occurredAt.toISOString();
  const type = `${event.provider}.${event.type}`;
  const document = { type, timestamp, data: dataOf(rendering) };
  return template === null ? document : template(document);
}

export function dataOf({ notification, event }: Pick<Rendering, "notification" | "event">) {
  const { id, title, text, url, severity, createdAt } = notification;
  return { notificationId: id, title, text, url, severity, createdAt, event };
}

function signed({ notification, secrets, atMs }: Rendering, body: string) {
  return signedHeaders(secrets.map(keyOf), notification.id, atMs, body);
}
