import type { Clock } from "../../base/clock.ts";
import type { Storage } from "../../db/storage.ts";
import { isCircuitOpen } from "../deliveries/circuit.ts";
import type { Destination } from "../model/destination.ts";

import { healthOf, maxCounted } from "./destination-health.sql.ts";
import type { DestinationHealth } from "./destination.schema.ts";

/** Adds their health to destinations that the caller was allowed to read, in one query. */
export type WithHealth = <One extends Destination>(
  destinations: readonly One[],
) => Promise<(One & { readonly health: DestinationHealth })[]>;

export function destinationHealth(storage: Storage, clock: Clock): WithHealth {
  return async (destinations) => {
    const rows = await storage.all(healthOf, { ids: destinations.map(({ id }) => id) }, "long");
    const byId = new Map(rows.map((row) => [row.id, row]));
    const now = clock.now();
    return destinations.map((each) => ({
      ...each,
      health: healthFrom(each, byId.get(each.id), now),
    }));
  };
}

interface Row {
  readonly waiting: number;
  readonly dead: number;
  readonly oldestWaitingMs: number | null;
  readonly lastAttemptMs: number | null;
  readonly lastError: string | null;
  readonly outcomes: string | null;
}

/** `row` is undefined for a destination that was removed meanwhile. */
function healthFrom(
  destination: Destination,
  row: Row | undefined,
  nowMs: number,
): DestinationHealth {
  const durations = (row?.outcomes ?? "").split(",").filter((outcome) => outcome !== "");
  const outcomes = durations.map((duration) => duration !== "x");
  const delivered = durations
    .filter((duration) => duration !== "x")
    .map(Number)
    .toSorted((one, other) => one - other);
  const { oldestWaitingMs = null, lastAttemptMs = null } = row ?? {};
  return {
    circuit: circuitOf(destination, nowMs),
    waiting: Math.min(row?.waiting ?? 0, maxCounted),
    dead: Math.min(row?.dead ?? 0, maxCounted),
    // After the clock was set back, times can be in the future.
    oldestSeconds:
      oldestWaitingMs === null ? null : Math.max(0, Math.floor((nowMs - oldestWaitingMs) / 1_000)),
    lastAttemptAt: lastAttemptMs === null ? null : new Date(lastAttemptMs),
    lastError: row?.lastError ?? null,
    outcomes,
    successRate: outcomes.length === 0 ? null : delivered.length / outcomes.length,
    p50Ms: percentile(delivered, 0.5),
    p95Ms: percentile(delivered, 0.95),
  };
}

function circuitOf(destination: Destination, nowMs: number): DestinationHealth["circuit"] {
  if (destination.openUntil === null) return "closed";
  return isCircuitOpen(destination, nowMs) ? "open" : "probing";
}

/** The nearest-rank percentile of sorted values; null without one. */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
