import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import { reconciliationOf } from "../model/reconciliation.sql.ts";
import { providerStatus } from "../provider-status/provider-status.ts";
import type { Registered, Registry } from "../providers/registry.ts";

import type { Reconciler } from "./reconciler.ts";

interface Parts {
  readonly reconciler: Reconciler;
  readonly storage: Storage;
  readonly registry: Registry;
  /** The time between runs; 0: never. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The time between two looks at what is due. */
const lookMs = 60_000;
/** While another process has the lease, which may have died. */
const busyLookMs = 10_000;

/**
 * Runs the reconciler for each configured provider: every interval, at the start, because the service may have
 * been down, and as soon as a provider becomes silent. Several instances share the runs. A stop interrupts a run,
 * and the next start continues it.
 */
export function schedule(parts: Parts): Pick<BackgroundTask, "start" | "stop"> {
  const { reconciler, storage, registry, intervalMs, clock, log } = parts;
  /** Providers with a run that is due for another reason than its time. */
  const wanted = new Set<string>();
  const silent = new Set<string>();

  const configured = () =>
    Array.from(registry).filter(({ provider }) => reconciler.isConfigured(provider.id));

  async function look(signal: AbortSignal): Promise<number> {
    let nextLookMs = lookMs;
    for (const registered of configured()) {
      try {
        nextLookMs = Math.min(nextLookMs, await lookAt(registered, signal));
      } catch (error) {
        log.error(
          { provider: registered.provider.id, err: error },
          "reconciliation failed; retrying",
        );
      }
    }
    return nextLookMs;
  }

  /** Runs the provider's reconciliation if it is due. Returns the time until the next look. */
  async function lookAt(registered: Registered, signal: AbortSignal): Promise<number> {
    const { id } = registered.provider;
    if (await becameSilent(registered)) wanted.add(id);
    const next = await untilDue(id);
    if (next > 0 && !wanted.has(id)) return next;
    const { status } = await reconciler.run(id, { signal });
    if (status === "busy") return busyLookMs;
    wanted.delete(id);
    return Math.max(1, await untilDue(id));
  }

  async function untilDue(provider: string): Promise<number> {
    const [row] = await storage.all(reconciliationOf, { provider });
    const untilMs = (row?.nextRunAt.getTime() ?? 0) - clock.now();
    const isPaused = row?.pausedUntil !== null;
    // The clock was set back.
    return untilMs > intervalMs && !isPaused ? 0 : untilMs;
  }

  async function becameSilent(registered: Registered): Promise<boolean> {
    const { id } = registered.provider;
    const { isSilent } = await providerStatus(storage, registered, clock.now());
    const wasSilent = silent.has(id);
    if (isSilent) silent.add(id);
    else silent.delete(id);
    return isSilent && !wasSilent;
  }

  const task = backgroundTask(clock, look);

  return {
    start() {
      if (intervalMs === 0 || configured().length === 0) return;
      for (const { provider } of configured()) wanted.add(provider.id);
      task.start();
    },
    stop: () => task.stop(),
  };
}
