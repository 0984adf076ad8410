import { backgroundTask } from "../../base/background-task.ts";
import { write } from "../../db/statement.ts";
import type { Destination } from "../destination.ts";
import type { Targets } from "../destinations/targets.ts";
import { longestRetryAfterMs } from "../notification.ts";

import type { AttemptParts } from "./attempt.ts";
import { deleteOrphan, orphanedDeliveries } from "./deliveries.sql.ts";
import { bringForward, releaseLeases } from "./delivery-queue.sql.ts";
import { summaryWrites } from "./notifications.sql.ts";
import { type DeliveryQueue, deliveryQueue, leaseMs } from "./delivery-queue.ts";

/** Delivers notifications to all destinations, each by a queue of its own. */
interface Notifier {
  start(): Promise<void>;
  /** Looks for due deliveries soon. Null: of all destinations. Cheap enough to call on every commit. */
  wake(destinations: ReadonlySet<Destination["id"]> | null): void;
  /** Reads the destinations again, and wakes them all. */
  refresh(): Promise<void>;
  /** Claims nothing more and waits up to `patienceMs` for running deliveries. */
  stop(patienceMs: number): Promise<void>;
}

type Parts = Omit<AttemptParts, "onHealth"> & { readonly targets: Targets };

/** The time between two looks at the clock and, with several instances, at the destinations. */
const lookIntervalMs = 30_000;
const lookIntervalOfSeveralMs = 2_000;
/** Orphaned deliveries removed per look. */
const maxOrphans = 100;
/** Smaller backward jumps of the clock only delay deliveries by as much. */
const noticedJumpMs = 30_000;

export function notifier(parts: Parts): Notifier {
  const { storage, clock, log, targets } = parts;
  const stopping = new AbortController();
  const queues = new Map<Destination["id"], DeliveryQueue>();
  const intervalMs = storage.signals === null ? lookIntervalMs : lookIntervalOfSeveralMs;
  let stopped = true;
  /** Time of the last look. */
  let lookedAtMs = 0;

  function wake(destinations: ReadonlySet<Destination["id"]> | null): void {
    if (stopped) return;
    for (const [id, queue] of queues) if (destinations?.has(id) !== false) queue.wake();
  }

  async function refresh(): Promise<void> {
    await targets.refresh();
    if (stopped) return;
    const ids = new Set(targets.list().map(({ destination }) => destination.id));
    for (const [id, queue] of queues) {
      if (ids.has(id)) continue;
      queues.delete(id);
      void queue.stop();
    }
    for (const id of ids) {
      if (!queues.has(id)) queues.set(id, queueOf(id));
    }
    wake(null);
  }

  function queueOf(id: Destination["id"]): DeliveryQueue {
    const attemptParts: AttemptParts = {
      ...parts,
      onHealth(changed, health) {
        targets.setHealth(changed, health);
        wake(new Set([changed]));
      },
    };
    return deliveryQueue(attemptParts, id, () => targets.find(id), stopping.signal);
  }

  /** Sends waiting deliveries at once after the clock was set back, which would otherwise delay them. */
  async function noticeBackwardJump(): Promise<void> {
    const now = clock.now();
    const jumpedMs = lookedAtMs - now;
    lookedAtMs = now;
    if (jumpedMs <= noticedJumpMs) return;
    const heldAfter = new Date(now + leaseMs);
    const values = { now: new Date(now), dueAfter: new Date(now), heldAfter };
    await storage.atomically(write(bringForward, values));
    log.warn("clock set back; sending waiting notifications now; check NTP");
    wake(null);
  }

  /** Deliveries that were stored while their destination was removed would wait for ever. */
  async function removeOrphans(): Promise<void> {
    const orphans = await storage.all(orphanedDeliveries, { limit: maxOrphans });
    for (const orphan of orphans) {
      await storage.atomically(write(deleteOrphan, orphan), ...summaryWrites(orphan.eventId));
    }
  }

  const looking = backgroundTask(clock, async () => {
    try {
      await noticeBackwardJump();
      await removeOrphans();
      // Another instance may have changed a destination.
      if (storage.signals !== null) await refresh();
    } catch (error) {
      log.error({ err: error }, "failed to read due deliveries; retrying");
    }
    return intervalMs;
  });

  return {
    async start() {
      // Single process: remaining leases are stale. With several instances, leases may be in use.
      if (storage.signals === null) await storage.atomically(write(releaseLeases, {}));
      const now = clock.now();
      // No delay is longer, unless the clock was set back since it began.
      const latest = new Date(now + longestRetryAfterMs);
      await storage.atomically(
        write(bringForward, { now: new Date(now), dueAfter: latest, heldAfter: latest }),
      );
      stopped = false;
      lookedAtMs = now;
      await refresh();
      looking.start(intervalMs);
    },
    wake,
    refresh,
    async stop(patienceMs) {
      stopped = true;
      const cancelPatience = clock.after(patienceMs, () => stopping.abort());
      await Promise.all([looking, ...queues.values()].map((each) => each.stop()));
      cancelPatience();
    },
  };
}
