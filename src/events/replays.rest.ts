import { Elysia } from "elysia";

import { type Authenticated, operations, operatorsOnly } from "../web/rest/auth.ts";
import type { AddressOf } from "../web/rest/client-address.ts";
import { documentedHeaders, linkHeaders } from "../web/rest/documented-headers.ts";
import { readJson } from "../web/rest/json-body.ts";
import { pageQuery } from "../web/rest/page.schema.ts";
import { problemResponses } from "../web/rest/problem.schema.ts";
import { servePage } from "../web/rest/serve.ts";
import { documented } from "../web/schema.ts";

import { replayInputSchema } from "./replay-input.ts";
import {
  replayFailurePageSchema,
  replayPageSchema,
  replayParams,
  replayPreviewSchema,
  replaySchema,
} from "./replay.schema.ts";
import type { Replays } from "./replays.ts";

const operation = operations("Operators", operatorsOnly);

/** Bulk replays, for operators. */
export const replaysRest = (
  replays: Replays,
  authenticated: Authenticated,
  addressOf: AddressOf,
) => {
  const one = {
    params: replayParams,
    response: { 200: replaySchema, ...problemResponses(401, 403, 404, 429) },
  };
  return new Elysia({ name: "replays", prefix: "/v1/replays" })
    .post(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const body = await readJson(exchange.request, addressOf(exchange));
        const replay = await replays.start(ctx, body);
        exchange.set.status = 201;
        exchange.set.headers["location"] = `/v1/replays/${replay.id}`;
        return replay;
      },
      {
        parse: "none",
        body: documented(replayInputSchema),
        response: {
          201: replaySchema,
          ...problemResponses(401, 403, 409, 413, 415, 422, 429, 503),
        },
        detail: operation(
          "startReplay",
          "Replay many events",
          "Replays all events that match, in the order of receipt, as the replay of one event does. One replay runs at a time.",
        ),
      },
    )
    .get(
      "",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return servePage(exchange, "rpl_", (page) => replays.list(ctx, page));
      },
      {
        query: pageQuery,
        response: {
          200: documentedHeaders(replayPageSchema, linkHeaders),
          ...problemResponses(401, 403),
        },
        detail: operation("listReplays", "List replays", "Newest first."),
      },
    )
    .post(
      "/preview",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        return replays.preview(ctx, await readJson(exchange.request, addressOf(exchange)));
      },
      {
        parse: "none",
        body: documented(replayInputSchema),
        response: { 200: replayPreviewSchema, ...problemResponses(401, 403, 413, 415, 422, 503) },
        detail: operation(
          "previewReplay",
          "Count what a replay would replay",
          "Also compares the newest 100 of these events with what this version makes of their bodies. Changes nothing.",
        ),
      },
    )
    .get(
      "/:id",
      async (exchange) => replays.read(await authenticated(exchange), exchange.params.id),
      { ...one, detail: operation("getReplay", "Read a replay", "Its progress and its counts.") },
    )
    .get(
      "/:id/failures",
      async (exchange) => {
        const ctx = await authenticated(exchange);
        const { id } = exchange.params;
        return servePage(exchange, "evt_", (page) => replays.failures(ctx, id, page));
      },
      {
        params: replayParams,
        query: pageQuery,
        response: {
          200: documentedHeaders(replayFailurePageSchema, linkHeaders),
          ...problemResponses(401, 403, 404),
        },
        detail: operation(
          "listReplayFailures",
          "List the events that a replay could not replay",
          "The last first. Keeps the first 1,000 of a replay.",
        ),
      },
    )
    .post(
      "/:id/stop",
      async (exchange) => replays.stop(await authenticated(exchange), exchange.params.id),
      {
        ...one,
        parse: "none",
        detail: operation("stopReplay", "Stop a replay", "After the current event."),
      },
    )
    .post(
      "/:id/resume",
      async (exchange) => replays.resume(await authenticated(exchange), exchange.params.id),
      {
        ...one,
        parse: "none",
        response: { 200: replaySchema, ...problemResponses(401, 403, 404, 409, 429) },
        detail: operation(
          "resumeReplay",
          "Resume a stopped replay",
          "Continues after its last event.",
        ),
      },
    );
};
