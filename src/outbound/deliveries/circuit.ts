import type { Clock } from "../../base/clock.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Destination, type Health, nameInLogs } from "../model/destination.ts";
import { recordFailure, recordRecovery, recordSuccess } from "../model/destinations.sql.ts";

import { retryWaitingOf } from "./retry-all.ts";

/** This many failures in a row open the circuit: nothing is sent but probes. */
const circuitThreshold = 10;
/** The time between two probes. */
export const probeMs = 30_000;

/** Whether nothing is sent now. */
export function isCircuitOpen({ openUntil }: Pick<Health, "openUntil">, nowMs: number): boolean {
  return openUntil !== null && openUntil.getTime() > nowMs;
}

/**
 * The write that counts an attempt. `hasFailed`: whether an attempt before it failed, as far as this process knows.
 * `claimedMs`: when a probe was claimed; null for other attempts.
 */
export function healthWrite(
  { id, hasFailed }: Pick<Destination, "id"> & { readonly hasFailed: boolean },
  { delivered }: { readonly delivered: boolean },
  nowMs: number,
  claimedMs: number | null,
): Write<Health> {
  if (delivered) return write(hasFailed ? recordRecovery : recordSuccess, { id });
  // The next probe follows 30 s after the start of this one, however long it took.
  const openUntil = new Date((claimedMs ?? nowMs) + probeMs);
  const now = new Date(nowMs);
  return write(recordFailure, { id, now, openUntil, threshold: circuitThreshold });
}

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Follows the health of a destination that changed from `before` to `health`, which the database has: logs when its
 * circuit opens or closes. When it closes, all retries are due at once; `wake` is called then, too.
 */
export async function followHealth(
  parts: Parts,
  destination: Destination,
  health: Health,
  wake: () => void,
): Promise<void> {
  const { log } = parts;
  const [wasOpen, isOpen] = [destination.openUntil !== null, health.openUntil !== null];
  const fields = { destination: nameInLogs(destination) };
  if (isOpen && !wasOpen) {
    log.warn(fields, "circuit opened: too many failures in a row");
  }
  if (!wasOpen || isOpen) return;
  log.info(fields, "circuit closed");
  try {
    await retryWaitingOf(parts, { destinationId: destination.id, which: () => true });
  } catch (error) {
    log.error({ ...fields, err: error }, "failed to bring retries forward");
  }
  wake();
}
