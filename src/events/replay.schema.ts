import { type Static, Type } from "@sinclair/typebox";

import { pageOf } from "../web/page.schema.ts";
import {
  count,
  documented,
  instant,
  listOf,
  nullable,
  prefixedId,
  resource,
  text,
} from "../web/schema.ts";

import { replayFailureSchema, replayFiltersSchema, replaySchema } from "./replay.ts";

export const replayPageSchema = pageOf(replaySchema);

export const replayFailurePageSchema = pageOf(replayFailureSchema);

const changeSchema = resource(
  "FieldChange",
  "A field of an event that this version interprets differently.",
  {
    field: text("The field.", "data.amount"),
    stored: nullable(text("As stored.")),
    now: nullable(text("As this version interprets the stored body.")),
  },
);

export interface FieldChange extends Static<typeof changeSchema> {}

const differenceSchema = resource(
  "ReplayDifference",
  "An event that this version interprets differently.",
  {
    id: prefixedId("evt_", "The event."),
    provider: text("Its provider.", "code_host"),
    type: text("Its stored type.", "package.published"),
    changes: listOf(changeSchema),
  },
);

export interface ReplayDifference extends Static<typeof differenceSchema> {}

const sampleSchema = resource("ReplaySample", "An event that would be replayed.", {
  id: prefixedId("evt_", "The event."),
  provider: text("Its provider.", "code_host"),
  type: text("Its type.", "package.published"),
  title: text("Its title.", "Package demo 1.2.3 published"),
  createdAt: instant("When it was received."),
});

const repeatedSchema = resource("ReplayRepetition", "Who is notified a second time.", {
  destinationId: prefixedId("dst_", "The destination."),
  destination: text("Its name.", "deploys"),
  events: count("How many of the compared events it has received already.", 87),
});

export const replayPreviewSchema = resource("ReplayPreview", "What a replay would do.", {
  filters: replayFiltersSchema,
  total: count("How many events would be replayed.", 120),
  undelivered: count("How many events match that were not delivered.", 120),
  delivered: count(
    "How many match that were delivered. Replayed if `onlyUndelivered` is false.",
    900,
  ),
  compared: count("How many of the newest of these were compared.", 100),
  differing: count("How many of these are interpreted differently now.", 3),
  examples: listOf(differenceSchema, "The first of these."),
  newest: listOf(sampleSchema, "The newest ten events."),
  repeated: count("Compared events whose notifications were delivered and are sent again.", 87),
  repeatedTo: listOf(repeatedSchema, "The operators' destinations that have received these."),
});

export interface ReplayPreview extends Static<typeof replayPreviewSchema> {}

export const replayParams = documented(
  Type.Object({ id: text("The replay's id.", "rpl_019377b07d4070008000000000000001") }),
);
