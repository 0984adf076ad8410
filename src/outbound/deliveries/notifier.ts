import { backgroundTask } from "../../base/background-task.ts";
import { write } from "../../db/statement.ts";
import { deleteOrphan, deliveriesTo, orphanedDestinations } from "../model/deliveries.sql.ts";
import { type Destination, type Health, nameInLogs } from "../model/destination.ts";
import { longestRetryAfterMs } from "../model/retry-delays.ts";

import { followHealth } from "./circuit.ts";
import { type DeliverParts, type DeliveryQueue, deliveryQueue, leaseMs } from "./deliver.ts";
import { bringForward, destinationsDue, nextDue, releaseLeases } from "./delivery-queue.sql.ts";
import type { DestinationCache } from "./destination-cache.ts";
import { recorder, type RecordParts } from "./record.ts";

/** Delivers notifications to all destinations, each by a queue of its own. */
export interface Notifier {
  start(): Promise<void>;
  /** Looks for due deliveries soon. Null: of all destinations. Cheap enough to call on every commit. */
  wake(destinations: ReadonlySet<Destination["id"]> | null): void;
  /** Another process stored deliveries. Wakes the destinations that have some, of which there may be few. */
  wakeDue(): void;
  /** Reads one destination again, or all, and wakes those that changed. */
  refresh(id?: Destination["id"]): Promise<void>;
  /** What is wrong if nothing is sent although something is due and nothing forbids it; null if all is well. */
  stalled(): Promise<string | null>;
  /** Claims nothing more and waits up to `patienceMs` for running deliveries. */
  stop(patienceMs: number): Promise<void>;
}

export interface NotifierParts
  extends
    Omit<DeliverParts, "onHealth" | "record">,
    Omit<RecordParts, "failuresOf" | "onHealth" | "onDisabled"> {
  readonly destinations: DestinationCache;
}

/** The time between two looks at the clock and, with several instances, at the destinations. */
const lookIntervalMs = 30_000;
const lookIntervalOfSeveralMs = 2_000;
/** Orphaned deliveries of a destination removed per look. */
const maxOrphans = 100;
/** The clocks of instances differ by less. */
const longestSkewMs = 20_000;
/** Smaller backward jumps of the clock only delay deliveries by as much. */
const noticedJumpMs = 30_000;
/** What waits longer without an attempt, or a look that is older, is stalled. */
const stalledMs = 5 * 60_000;

export function notifier(parts: NotifierParts): Notifier {
  const { storage, clock, log, destinations } = parts;
  const stopping = new AbortController();
  const queues = new Map<Destination["id"], DeliveryQueue>();
  const intervalMs = storage.signals === null ? lookIntervalMs : lookIntervalOfSeveralMs;
  let stopped = true;
  /** Time of the last look. */
  let lookedAtMs = 0;
  const attemptedAtMs = new Map<Destination["id"], number>();

  function wake(destinations: ReadonlySet<Destination["id"]> | null): void {
    if (stopped) return;
    for (const id of destinations ?? queues.keys()) queues.get(id)?.wake();
  }

  async function refresh(id?: Destination["id"]): Promise<void> {
    const known = id === undefined ? destinations.list() : [destinations.find(id)];
    const suspended = known
      .flatMap((cached) => (cached === undefined ? [] : [cached.destination]))
      .filter(({ openUntil }) => openUntil !== null);
    const changed = await destinations.refresh(id);
    // Another instance, a test, a retry or a resume may have closed a circuit.
    for (const before of suspended) {
      const now = destinations.find(before.id)?.destination;
      if (now !== undefined) noticeHealth(before, now);
    }
    if (stopped) return;
    for (const each of changed) startOrStop(each);
    wake(changed);
  }

  /** A destination has a queue as long as it exists. */
  function startOrStop(id: Destination["id"]): void {
    const queue = queues.get(id);
    const exists = destinations.find(id) !== undefined;
    if (exists && queue === undefined) queues.set(id, queueOf(id));
    if (exists || queue === undefined) return;
    queues.delete(id);
    attemptedAtMs.delete(id);
    void queue.stop();
  }

  function onHealth(id: Destination["id"], health: Health): void {
    const before = destinations.find(id)?.destination;
    destinations.setHealth(id, health);
    wake(new Set([id]));
    if (before !== undefined) noticeHealth(before, health);
  }

  const record = recorder({
    ...parts,
    failuresOf: (id) => destinations.find(id)?.destination.failures ?? 0,
    onHealth,
    onDisabled: (id) => refresh(id),
  });
  const queueOf = (id: Destination["id"]) => {
    const recorded: typeof record = (made) => {
      attemptedAtMs.set(id, clock.now());
      return record(made);
    };
    const own = { ...parts, onHealth, record: recorded };
    return deliveryQueue(own, id, () => destinations.find(id), stopping.signal);
  };

  function noticeHealth(before: Destination, health: Health): void {
    void followHealth(parts, before, health, () => wake(new Set([before.id])));
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
    const found = await Promise.all(orphanedDestinations.map((each) => storage.all(each, {})));
    for (const { destination } of found.flat()) {
      const orphans = await storage.all(deliveriesTo, { destination, limit: maxOrphans });
      for (const orphan of orphans) await storage.atomically(write(deleteOrphan, orphan));
    }
  }

  const seeking = backgroundTask(clock, async () => {
    try {
      // What is due soon has a timer, unless it was stored by a clock that is ahead.
      const until = new Date(clock.now() + longestSkewMs);
      const due = await storage.all(destinationsDue, { until });
      wake(new Set(due.map(({ id }) => id)));
      return null;
    } catch (error) {
      log.error({ err: error }, "failed to read due deliveries; retrying");
      return 1_000;
    }
  });

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
      await destinations.refresh();
      for (const { destination } of destinations.list()) startOrStop(destination.id);
      wake(null);
      looking.start(intervalMs);
      seeking.start(null);
    },
    wake,
    wakeDue: () => seeking.wake(),
    refresh,
    async stalled() {
      const now = clock.now();
      const until = new Date(now - stalledMs);
      if (lookedAtMs < until.getTime()) return "the notifier does not run";
      const due = await storage.all(destinationsDue, { until });
      for (const { id } of due) {
        const to = destinations.find(id)?.destination;
        const isSending = to?.state === "active" && to.openUntil === null;
        if (!isSending || (attemptedAtMs.get(id) ?? 0) > until.getTime()) continue;
        const [next] = await storage.all(nextDue, { destination: to.number, after: new Date(now) });
        if (next?.dueAt && next.dueAt <= until) return `nothing is sent to ${nameInLogs(to)}`;
      }
      return null;
    },
    async stop(patienceMs) {
      stopped = true;
      const cancelPatience = clock.after(patienceMs, () => stopping.abort());
      await Promise.all([looking, seeking, ...queues.values()].map((each) => each.stop()));
      cancelPatience();
      destinations.close();
    },
  };
}
