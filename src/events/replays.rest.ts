import { Elysia } from "elysia";

import { type Callers, operatorsOnly, routes } from "../web/rest/route.ts";

import { replayInputSchema } from "./replay-input.ts";
import {
  replayFailurePageSchema,
  replayPageSchema,
  replayParams,
  replayPreviewSchema,
} from "./replay.schema.ts";
import { replaySchema } from "./replay.ts";
import type { Replays } from "./replays.ts";

/** Bulk replays, for operators. */
export const replaysRest = (replays: Replays, callers: Callers) => {
  const { route, list } = routes(callers, "Replays", operatorsOnly);
  return new Elysia({ name: "replays", prefix: "/v1/replays" })
    .post(
      "",
      ...route("startReplay", "Replay many events", {
        description:
          "Replays all events that match, in the order of receipt, as the replay of one event does, without those that were delivered already unless `onlyUndelivered` is false. One replay runs at a time.",
        body: replayInputSchema,
        success: 201,
        response: replaySchema,
        problems: [409],
        location: ({ id }) => `/v1/replays/${id}`,
        serve: ({ ctx, body }) => replays.start(ctx, body),
      }),
    )
    .get(
      "",
      ...list("listReplays", "List replays", {
        description: "Newest first.",
        ids: "rpl_",
        response: replayPageSchema,
        serve: ({ ctx, page }) => replays.list(ctx, page),
      }),
    )
    .post(
      "/preview",
      ...route("previewReplay", "Count what a replay would replay", {
        costly: true,
        description:
          "Also compares the newest 100 of these events with what this version makes of their bodies. Changes nothing.",
        body: replayInputSchema,
        response: replayPreviewSchema,
        serve: ({ ctx, body }) => replays.preview(ctx, body),
      }),
    )
    .get(
      "/:id",
      ...route("getReplay", "Read a replay", {
        description: "Its progress and its counts.",
        params: replayParams,
        response: replaySchema,
        problems: [404],
        serve: ({ ctx, params }) => replays.read(ctx, params.id),
      }),
    )
    .get(
      "/:id/failures",
      ...list("listReplayFailures", "List the events that a replay could not replay", {
        description: "The last first. Keeps the first 1,000 of a replay.",
        ids: "evt_",
        params: replayParams,
        response: replayFailurePageSchema,
        problems: [404],
        serve: ({ ctx, params, page }) => replays.failures(ctx, params.id, page),
      }),
    )
    .post(
      "/:id/stop",
      ...route("stopReplay", "Stop a replay", {
        description: "After the current event.",
        params: replayParams,
        response: replaySchema,
        problems: [404],
        serve: ({ ctx, params }) => replays.stop(ctx, params.id),
      }),
    )
    .post(
      "/:id/resume",
      ...route("resumeReplay", "Resume a stopped replay", {
        description: "Continues after its last event.",
        params: replayParams,
        response: replaySchema,
        problems: [404, 409],
        serve: ({ ctx, params }) => replays.resume(ctx, params.id),
      }),
    );
};
