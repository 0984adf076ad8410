import { Type } from "@sinclair/typebox";

import type { Context } from "../../base/context.ts";
import { encodeCursor } from "../../base/cursor.ts";
import { AppError } from "../../base/errors.ts";
import { readFilters } from "../../base/filters.ts";
import type { Page } from "../../base/page.ts";
import { type EventFilters, eventFilters } from "../../events/event-filters.ts";
import {
  eventPageSchema,
  type EventTimeline,
  eventTimelineSchema,
  type ListedEvent,
} from "../../events/event.schema.ts";
import type { Events } from "../../events/events.ts";
import { listAnswer } from "../answer.ts";
import { integer, membersOf, pageOf, shape, text, untrusted } from "../output.ts";
import { tool } from "../tool.ts";
import { isVisible, shownEvent, shownTimeline } from "../untrusted.ts";

import { filterInput, type ForwardRequest, pageIn, pageInput, shortText } from "./inputs.ts";

/** Pages that one call reads until it has enough events that agents may see. */
const maxPages = 5;
/** Larger bodies are not read for agents. */
const maxBodyBytes = 262_144;
const partLength = 8_000;

function requireVisible(event: Parameters<typeof isVisible>[0]): void {
  if (isVisible(event)) return;
  throw new AppError("not-found", "Agents do not see events about bookings");
}

/** A page of the events that agents see. */
async function visiblePage(
  events: Events,
  ctx: Context,
  request: ForwardRequest,
  filters: EventFilters,
): Promise<Page<ListedEvent>> {
  const extras = { severity: true, delivery: true };
  const data: ListedEvent[] = [];
  let { cursor } = request;
  for (let pages = 0; ; pages += 1) {
    const page = await events.list(ctx, { ...request, cursor }, filters, extras);
    const visible = page.data.filter(isVisible);
    const taken = visible.slice(0, request.limit - data.length);
    data.push(...taken);
    const isCut = taken.length < visible.length;
    const last = isCut ? taken.at(-1) : page.data.at(-1);
    const isDone = isCut || data.length === request.limit || pages + 1 === maxPages;
    if (last === undefined || !page.pagination.hasMore || isDone) {
      const hasMore = last !== undefined && (isCut || page.pagination.hasMore);
      const nextCursor = hasMore ? encodeCursor(last) : null;
      return { data, pagination: { hasMore, nextCursor, prevCursor: null } };
    }
    cursor = { createdAt: last.createdAt, id: last.id };
  }
}

async function timelineOf(events: Events, ctx: Context, id: string): Promise<EventTimeline> {
  const timeline = await events.history(ctx, id);
  requireVisible(timeline);
  return timeline;
}

/** In the resource, but not shown or under `untrusted`. */
const hidden = ["idempotencyKey", "subject", "title", "url", "actor", "data"] as const;
const eventMembers = {
  ...membersOf(eventPageSchema.properties.data.items, ...hidden, "occurredAt", "recovered"),
  ...untrusted,
};

export const searchEvents = tool({
  name: "search_events",
  title: "Search events",
  description:
    "Events, newest first: stored webhooks, with severity and state of delivery. For what failed at one destination, give `destination` and `delivery`.",
  input: Type.Object({ ...filterInput(eventFilters), ...pageInput }),
  output: pageOf(eventMembers),
  needs: null,
  async run({ events }, agent, given) {
    const filters = readFilters(eventFilters, given);
    requireVisible(filters);
    return listAnswer(await visiblePage(events, agent, pageIn(given, "evt_"), filters), shownEvent);
  },
});

const idInput = Type.Object({ id: shortText("The event's id, `evt_…`.") });

export const getEvent = tool({
  name: "get_event",
  title: "Get an event",
  description:
    "What became of one event: its notifications, and for each destination the delivery, its attempts, their errors, or the part of its filter that does not match.",
  input: idInput,
  output: shape({
    ...eventMembers,
    ...membersOf(eventTimelineSchema, ...hidden, "effect", "body", "bodyEncoding"),
  }),
  needs: null,
  run: async ({ events }, agent, { id }) => shownTimeline(await timelineOf(events, agent, id)),
});

export const getBody = tool({
  name: "get_body",
  title: "Get the body of a webhook",
  description: `The exact body of an event, ${partLength} characters at a time. It can hold personal data; who read it is recorded.`,
  input: Type.Object({
    ...idInput.properties,
    offset: Type.Optional(
      Type.Integer({ minimum: 0, description: "`nextOffset` of the part before." }),
    ),
  }),
  output: shape({ bodyEncoding: text, length: integer, nextOffset: integer, ...untrusted }),
  needs: "bodies",
  async run({ events }, agent, { id, offset = 0 }) {
    await timelineOf(events, agent, id);
    if ((await events.bodyBytes(agent, id)) > maxBodyBytes) {
      throw new AppError("body-too-large", `Agents read bodies of at most ${maxBodyBytes} bytes`);
    }
    const { body, bodyEncoding } = await events.read(agent, id);
    const end = offset + partLength;
    return {
      bodyEncoding,
      length: body?.length ?? null,
      nextOffset: body !== null && end < body.length ? end : null,
      untrusted: { body: body?.slice(offset, end) ?? null },
    };
  },
});
