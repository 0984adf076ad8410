import { cloudEvent } from "./cloud-event.ts";
import { type FormatInfo, jsonType, type Render, type Rendering } from "./format.ts";
import { keyOf, signedHeaders } from "./standard-webhooks.ts";

const signedInfo = {
  address: "The URL of your service. You get a signing secret.",
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
  const { event } = rendering;
  const timestamp = event.occurredAt.toISOString();
  const type = `${event.provider}.${event.type}`;
  const body = JSON.stringify({ type, timestamp, data: dataOf(rendering) });
  return { headers: { ...jsonType, ...signed(rendering, body) }, body };
};

function dataOf({ notification, event }: Rendering) {
  const { id, title, text, url, severity, createdAt } = notification;
  return { notificationId: id, title, text, url, severity, createdAt, event };
}

function signed({ notification, secrets, atMs }: Rendering, body: string) {
  return signedHeaders(secrets.map(keyOf), notification.id, atMs, body);
}
