import { Elysia } from "elysia";

import type { Clock } from "../base/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { Callers } from "../web/rest/route.ts";

import { eventStreamsRest } from "./event-streams.rest.ts";
import type { EventStreams } from "./event-streams.ts";
import { eventsRest } from "./events.rest.ts";
import type { Events } from "./events.ts";
import { replaysRest } from "./replays.rest.ts";
import type { Replays } from "./replays.ts";

/** Stored events: found, streamed and replayed. */
export interface EventServices {
  readonly events: Events;
  /** Replays many events. */
  readonly replays: Replays;
  readonly eventStreams: EventStreams;
}

type Parts = EventServices & { readonly clock: Clock; readonly log: Log };

export const eventRoutes = (parts: Parts, callers: Callers) =>
  new Elysia()
    .use(eventsRest(parts.events, callers, parts.clock))
    .use(eventStreamsRest(parts.eventStreams, callers, parts))
    .use(replaysRest(parts.replays, callers));
