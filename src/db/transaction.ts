import { AppError } from "../base/errors.ts";

import type { Step, StepResult } from "./statement.ts";
import type { StorageObserver } from "./storage.ts";

/** A unit of work that waits for its commit. */
export interface Unit {
  readonly steps: readonly Step<unknown>[];
  resolve(results: StepResult<unknown>[]): void;
  reject(error: unknown): void;
  /** Told the end by whoever watches this unit; null where nobody does. */
  readonly ended: ReturnType<StorageObserver["unitWaits"]>;
}

/** What a step did that was left out. */
export const leftOut: StepResult<unknown> = { rows: [], touched: 0 };

/** Bounds what one transaction holds, and for how long. */
export const maxUnitsPerCommit = 512;
/** Beyond this the database is too slow for the load: new work is refused rather than piled up. */
const maxWaitingUnits = 20_000;

/** Why a unit is not taken on; null when it is. */
export function refusal(closed: boolean, waitingUnits: number): AppError | null {
  if (!closed && waitingUnits < maxWaitingUnits) return null;
  const detail = closed ? "The service is shutting down" : "Too much work is waiting";
  return new AppError("unavailable", detail, { retryAfterSeconds: 5 });
}
