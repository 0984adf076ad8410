import { type Static, Type } from "@sinclair/typebox";

import { defineTable, personal, type Stored } from "../db/table.ts";
import { eventFields } from "../event/event.ts";
import { filterFields } from "../web/filters.schema.ts";
import {
  count,
  flag,
  instant,
  nullable,
  type Of,
  prefixedId,
  resource,
  text,
  word,
} from "../web/schema.ts";

import { replayFilters } from "./event-filters.ts";

/** `running → finished`, or `running ⇄ stopped`. */
const replayStatuses = ["running", "stopped", "finished"] as const;
export type ReplayStatus = (typeof replayStatuses)[number];

/** Filters of later versions are absent from earlier replays. */
export const replayFiltersSchema = resource("ReplayFilters", "Which events are replayed.", {
  ...filterFields(replayFilters),
  to: text("Only events received before this time.", "2026-11-21T10:00:00.000Z"),
  onlyUndelivered: Type.Optional(flag("Without events that were delivered already.")),
});

export interface ReplayFilters extends Static<typeof replayFiltersSchema> {}

const countFields = {
  resent: count("Events whose failed notifications were sent again, under their own ids.", 100),
  notified: count("Events for which new notifications were sent.", 15),
  silent: count(
    "Events without notifications or, with the filter `dead` or `retrying`, without undelivered ones.",
    5,
  ),
  deleted: count("Events that retention deleted before their turn.", 0),
  failed: count("Events that could not be replayed.", 0),
  changed: count("Events that are interpreted differently now; counted besides the others.", 3),
};

/** What became of the events of a bulk replay. */
export interface ReplayCounts extends Of<typeof countFields> {}

/** The events are replayed in the order of receipt. */
export const replaySchema = resource("Replay", "The replay of many events.", {
  id: prefixedId("rpl_", "The replay's id."),
  createdAt: instant("When it was started."),
  actor: personal("pseudonym", text("The id of the user or client who started it.")),
  status: word(replayStatuses, "A stopped replay can be resumed."),
  filters: personal("text", replayFiltersSchema),
  ratePerSecond: count("The most events per second.", 50),
  total: count("How many events matched when it started.", 120),
  ...countFields,
  updatedAt: instant("When it last made progress."),
  lastError: personal("text", nullable(text("Why the last failed event failed, or null."))),
});

export interface Replay extends Static<typeof replaySchema> {}

export const replaysTable = defineTable("replays", {
  ...replaySchema.properties,
  /** The last event that was replayed. Both null before the first. */
  positionAt: "instant or null",
  positionId: nullable(eventFields.id),
  /** One process replays at a time: this one, until its lease ends. */
  leasedBy: "text or null: none",
  leasedUntil: "instant or null",
});

export interface StoredReplay extends Stored<typeof replaysTable> {}

/** The most failed events of a replay that are kept. The others are only counted. */
export const maxReplayFailures = 1_000;

export const replayFailureSchema = resource(
  "ReplayFailure",
  "An event that could not be replayed.",
  {
    id: prefixedId("evt_", "The event."),
    createdAt: instant("When it failed."),
    error: personal("text", text("Why.")),
  },
);

export interface ReplayFailure extends Static<typeof replayFailureSchema> {}

export const replayFailuresTable = defineTable(
  "replay_failures",
  {
    replayId: replaySchema.properties.id,
    ...replayFailureSchema.properties,
  },
  ["replayId", "id"],
);

export interface StoredReplayFailure extends Stored<typeof replayFailuresTable> {}

export const noReplayCounts: ReplayCounts = {
  resent: 0,
  notified: 0,
  silent: 0,
  deleted: 0,
  failed: 0,
  changed: 0,
};

/** How many of its events had their turn. */
export function doneOf({ resent, notified, silent, deleted, failed }: ReplayCounts): number {
  return resent + notified + silent + deleted + failed;
}
