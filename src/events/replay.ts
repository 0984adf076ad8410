import type { JsonFilters } from "../base/filters.ts";
import { defineTable } from "../db/table.ts";
import type { Event } from "../event/event.ts";

import type { replayFilters } from "./event-filters.ts";

/** `running → finished`, or `running ⇄ stopped`. */
export const replayStatuses = ["running", "stopped", "finished"] as const;
export type ReplayStatus = (typeof replayStatuses)[number];

/** Which events a bulk replay replays. Filters of later versions are absent from earlier replays. */
export interface ReplayFilters extends JsonFilters<typeof replayFilters> {
  readonly to: string;
}

/** What became of the events of a bulk replay. */
export interface ReplayCounts {
  /** Failed notifications were sent again, under their own ids. */
  readonly resent: number;
  /** New notifications were sent. */
  readonly notified: number;
  /** The event has no notifications. */
  readonly silent: number;
  /** Retention deleted the event before its turn. */
  readonly deleted: number;
  readonly failed: number;
  /** The event is interpreted differently than before. Counted besides the others. */
  readonly changed: number;
}

/** The replay of all events that match, in the order of receipt. */
export interface Replay extends ReplayCounts {
  readonly id: `rpl_${string}`;
  readonly createdAt: Date;
  /** Who started it: the id of a user or client. */
  readonly actor: string;
  readonly status: ReplayStatus;
  readonly filters: ReplayFilters;
  readonly ratePerSecond: number;
  /** How many events matched when it started. */
  readonly total: number;
  readonly updatedAt: Date;
  /** Why the last failed event failed, or null. */
  readonly lastError: string | null;
}

/** A bulk replay as stored. */
export interface StoredReplay extends Replay {
  /** The last event that was replayed. Both null before the first. */
  readonly positionAt: Date | null;
  readonly positionId: Event["id"] | null;
  /** One process replays at a time: this one, until its lease ends. */
  readonly leasedBy: string | null;
  readonly leasedUntil: Date | null;
}

/** An event that a bulk replay could not replay. */
export interface ReplayFailure {
  /** The id of the event. */
  readonly id: Event["id"];
  /** When it failed. */
  readonly createdAt: Date;
  readonly error: string;
}

/** A failed event as stored. */
export interface StoredReplayFailure extends ReplayFailure {
  readonly replayId: Replay["id"];
}

/** The most failed events of a replay that are kept. The others are only counted. */
export const maxReplayFailures = 1_000;

export const replayFailuresTable = defineTable<StoredReplayFailure>("replay_failures", {
  replayId: "text",
  id: "text",
  createdAt: "instant",
  error: "text",
});

export const replaysTable = defineTable<StoredReplay>("replays", {
  id: "text",
  createdAt: "instant",
  actor: "text",
  status: "text",
  filters: "json",
  ratePerSecond: "integer",
  total: "integer",
  updatedAt: "instant",
  lastError: "text or null",
  resent: "integer",
  notified: "integer",
  silent: "integer",
  deleted: "integer",
  failed: "integer",
  changed: "integer",
  positionAt: "instant or null",
  positionId: "text or null",
  leasedBy: "text or null",
  leasedUntil: "instant or null",
});

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
