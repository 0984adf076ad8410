import { lazy } from "../../base/lazy.ts";
import type { Event, StoredEvent } from "../../event/event.ts";
import { viaHeader } from "../../event/via.ts";
import { type TraceContext, traceHeaders } from "../../telemetry/tracing/trace-context.ts";
import { bodyTemplate } from "../formats/body-template.ts";
import type { Rendering, SentNotification } from "../formats/format.ts";
import { httpFormat } from "../formats/formats.ts";
import { renderJsonBatch } from "../formats/json.ts";
import { type OriginalOf, renderOriginal } from "../formats/original.ts";
import type { DestinationSecrets } from "../model/destination-secrets.ts";
import type { Destination } from "../model/destination.ts";
import type { PostRequest } from "../transports/post.ts";

/** One notification of a message. */
export interface MessageItem {
  readonly notification: SentNotification;
  readonly event: Event;
  /** The stored headers of its request. */
  readonly headers?: StoredEvent["headers"];
}

/** What one message holds: one notification, or those of a batch. */
export type Contents = readonly [MessageItem, ...MessageItem[]];

/** The trace contexts sent to the destination. */
export interface DeliveryTrace {
  /** The trace of the request that created the event, the same for every attempt. Null if unknown. */
  readonly origin: TraceContext | null;
  /** The trace of this attempt. */
  readonly attempt: TraceContext;
}

/** Makes the request of a message at a time. What message systems carry is the same. */
export type RenderFor = (
  contents: Contents,
  trace: DeliveryTrace | null,
  atMs: number,
) => Promise<PostRequest>;

/** Throws for a format that a newer version stored. */
export function renderer(
  { originalOf }: { readonly originalOf: OriginalOf },
  { format, template: text, batchMaxItems }: Destination,
  secrets: DestinationSecrets,
): RenderFor {
  const template = lazy(() => (text === null ? null : bodyTemplate(text)));
  const render = format === "original" ? null : httpFormat(format);

  async function rendered(renderings: readonly [Rendering, ...Rendering[]]): Promise<PostRequest> {
    const [first] = renderings;
    // An array even of one: the receiver need not distinguish.
    if (batchMaxItems !== null) return renderJsonBatch(renderings);
    if (render !== null) return render(first);
    return renderOriginal(first, await originalOf(first.event, secrets.url, first.atMs));
  }

  return async ([first, ...others], trace, atMs) => {
    const origin = trace?.origin ? traceHeaders(trace.origin) : null;
    const common = { origin, secrets: secretsAt(secrets, atMs), atMs, template: template() };
    const renderings = others.map((other) => ({ ...other, ...common }));
    const request = await rendered([{ ...first, ...common }, ...renderings]);
    const traced = trace === null ? {} : traceHeaders(trace.attempt);
    // One notification identifies a batch. What led to one of its events did not lead to the others.
    const earlier = others.length === 0 ? (first.headers?.[viaHeader] ?? "") : "";
    const via = { [viaHeader]: `${earlier} ${first.notification.id}`.slice(-1_000).trim() };
    return { ...request, headers: { ...request.headers, ...via, ...traced, ...secrets.headers } };
  };
}

function secretsAt({ secret, previous }: DestinationSecrets, nowMs: number): readonly string[] {
  const older = previous !== null && previous.untilMs > nowMs ? [previous.secret] : [];
  return secret === null ? older : [secret, ...older];
}
