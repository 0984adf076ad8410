import type { Event } from "../../event/event.ts";
import type { TraceHeaders } from "../../telemetry/tracing/trace-context.ts";

/** An event in the JSON format of CloudEvents 1.0. */
export interface CloudEvent<Data> extends Partial<TraceHeaders> {
  readonly specversion: "1.0";
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly subject?: string;
  readonly datacontenttype: "application/json";
  /** Extension: equal for all deliveries of the same event. */
  readonly idempotencykey: string;
  /** Extension, present if the event was read from the provider's log. */
  readonly recovered?: true;
  readonly data: Data;
}

/** The routes of Skyhook's API that create events, by provider. */
const ownRoutes: Partial<Record<string, string>> = { bookings: "/v1/api/bookings" };

/**
 * Renders an event as a CloudEvent with `data`. `origin`: the trace of the request that created the event,
 * sent in the Distributed Tracing extension, or null.
 */
export function cloudEvent<Data>(
  event: Event,
  data: Data,
  origin: TraceHeaders | null = null,
): CloudEvent<Data> {
  return {
    specversion: "1.0",
    id: event.id,
    source: ownRoutes[event.provider] ?? `/webhooks/${event.provider}`,
    type: `io.skyhook.${event.provider}.${event.type}`,
    time: event.occurredAt.toISOString(),
    ...(event.subject !== null && { subject: event.subject }),
    datacontenttype: "application/json",
    idempotencykey: event.idempotencyKey,
    ...(event.recovered && { recovered: true }),
    ...origin,
    data,
  };
}
