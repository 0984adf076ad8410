import { Elysia } from "elysia";

import type { Clock } from "../base/clock.ts";
import { queriedFilters } from "../base/filters.ts";
import { choices } from "../base/parameters.ts";
import type { Log } from "../telemetry/log.ts";
import { problemReferences } from "../web/rest/problem.schema.ts";
import { type Callers, describedOperation, operatorsOnly } from "../web/rest/route.ts";
import {
  eventStream,
  lastEventId,
  lastEventIdHeader,
  type ServerSentEvent,
} from "../web/rest/sse.ts";
import { urlOf } from "../web/url.ts";

import { streamFilters } from "./event-filters.ts";
import type { EventStreams, StreamItem } from "./event-streams.ts";
import { eventStreamQuery } from "./event.schema.ts";

/** The stream of stored events, for operators. */
export const eventStreamsRest = (
  streams: EventStreams,
  { authenticated }: Callers,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
) =>
  new Elysia({ name: "event-streams" }).get(
    "/v1/events/feed",
    async (exchange) => {
      const ctx = await authenticated(exchange);
      const query = urlOf(exchange.request).searchParams;
      const overdue = new AbortController();
      const items = await streams.open(ctx, {
        match: queriedFilters(streamFilters, query),
        afterSeq: lastEventId(exchange.request),
        withBody: choices(query, "include", ["body"]).includes("body"),
        onOverdue: () => overdue.abort(),
      });
      const end = (error?: unknown) => {
        void items.return?.();
        if (error !== undefined) log.error({ err: error }, "event stream of a client failed");
      };
      return eventStream(clock, messages(items), end, { signal: overdue.signal });
    },
    {
      query: eventStreamQuery,
      detail: {
        ...describedOperation(
          "Events",
          operatorsOnly,
          "followEvents",
          "Follow events as they are stored",
          "All events in the order of commits, ignored ones too. With `include=body`, only webhooks, each with its receipt and exact body; the audit list records it. There is no `delivery`: when an event is stored, its notifications are pending.",
        ),
        parameters: [lastEventIdHeader],
        responses: {
          200: {
            description:
              "Messages named `event`, with JSON as their data, and `position`, whose id is the position to resume after.",
            content: { "text/event-stream": { schema: { type: "string" } } },
          },
          ...problemReferences(400, 401, 403, 503),
        },
      },
    },
  );

async function* messages(items: AsyncIterable<StreamItem>): AsyncGenerator<ServerSentEvent, void> {
  for await (const { seq, event } of items) {
    const id = String(seq);
    yield event === null
      ? { id, event: "position", data: {} }
      : { id, event: "event", data: event };
  }
}
