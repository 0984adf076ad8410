import { Type } from "@sinclair/typebox";

import { filterFields } from "../web/filters.schema.ts";
import { pageOf } from "../web/rest/page.schema.ts";
import {
  count,
  documented,
  instant,
  listOf,
  nullable,
  prefixedId,
  schemaOf,
  text,
  word,
} from "../web/schema.ts";

import { replayFilters } from "./event-filters.ts";
import type { FieldChange } from "./event-replay.ts";
import { type Replay, type ReplayFailure, type ReplayFilters, replayStatuses } from "./replay.ts";
import type { ReplayDifference, ReplayPreview } from "./replays.ts";

const filtersSchema = schemaOf<ReplayFilters>()("ReplayFilters", "Which events are replayed.", {
  ...filterFields(replayFilters),
  to: text("Only events received before this time.", "2026-11-21T10:00:00.000Z"),
});

export const replaySchema = schemaOf<Replay>()("Replay", "The replay of many events.", {
  id: prefixedId("rpl_", { description: "The replay's id." }),
  createdAt: instant({ description: "When it was started." }),
  actor: text("The id of the user or client who started it."),
  status: word(replayStatuses, { description: "A stopped replay can be resumed." }),
  filters: filtersSchema,
  ratePerSecond: count("The most events per second.", 50),
  total: count("How many events matched when it started.", 120),
  resent: count("Events whose failed notifications were sent again, under their own ids.", 100),
  notified: count("Events for which new notifications were sent.", 15),
  silent: count(
    "Events without notifications or, with the filter `dead` or `retrying`, without undelivered ones.",
    5,
  ),
  deleted: count("Events that retention deleted before their turn.", 0),
  failed: count("Events that could not be replayed.", 0),
  changed: count("Events that are interpreted differently now; counted besides the others.", 3),
  updatedAt: instant({ description: "When it last made progress." }),
  lastError: nullable(text("Why the last failed event failed, or null.")),
});

export const replayPageSchema = pageOf(replaySchema);

export const replayFailurePageSchema = pageOf(
  schemaOf<ReplayFailure>()("ReplayFailure", "An event that could not be replayed.", {
    id: prefixedId("evt_", { description: "The event." }),
    createdAt: instant({ description: "When it failed." }),
    error: text("Why."),
  }),
);

const changeSchema = schemaOf<FieldChange>()(
  "FieldChange",
  "A field of an event that this version interprets differently.",
  {
    field: text("The field.", "data.amount"),
    stored: nullable(text("As stored.")),
    now: nullable(text("As this version interprets the stored body.")),
  },
);

const differenceSchema = schemaOf<ReplayDifference>()(
  "ReplayDifference",
  "An event that this version interprets differently.",
  {
    id: prefixedId("evt_", { description: "The event." }),
    provider: text("Its provider.", "code_host"),
    type: text("Its stored type.", "package.published"),
    changes: listOf(changeSchema),
  },
);

export const replayPreviewSchema = schemaOf<ReplayPreview>()(
  "ReplayPreview",
  "What a replay would do.",
  {
    filters: filtersSchema,
    total: count("How many events match.", 120),
    compared: count("How many of the newest of them were compared.", 100),
    differing: count("How many of these are interpreted differently now.", 3),
    examples: listOf(differenceSchema, { description: "The first of these." }),
  },
);

export const replayParams = documented(Type.Object({ id: text("The replay's id.") }));
