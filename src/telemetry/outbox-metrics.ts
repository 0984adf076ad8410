import Gauge from "prom-client/lib/gauge.js";
import type Registry from "prom-client/lib/registry.js";

/** How much of the outbox waits. */
export interface Outbox {
  readonly status: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly oldest: number;
}

/** What the database holds that is not delivered. `now`: milliseconds since the epoch. */
export function outboxMetrics(
  registry: Registry,
  readOutbox: () => Promise<readonly Outbox[]>,
  now: () => number,
) {
  const registers = [registry];
  const depth = new Gauge({
    name: "skyhook_outbox_notifications",
    help: "Notifications that are not delivered, by status",
    labelNames: ["status"],
    registers,
  });
  const age = new Gauge({
    name: "skyhook_outbox_oldest_seconds",
    help: "Age of the oldest notification that still waits for delivery",
    registers,
  });

  function show(outbox: readonly Outbox[]): void {
    for (const status of ["pending", "retrying", "dead"]) {
      depth.set({ status }, outbox.find((entry) => entry.status === status)?.count ?? 0);
    }
    const waiting = outbox.filter(({ status }) => status !== "dead");
    const oldest = Math.min(...waiting.map((entry) => entry.oldest));
    // A clock that was put back makes what waits look younger than now.
    age.set(waiting.length === 0 ? 0 : Math.max(0, now() - oldest) / 1_000);
  }

  return {
    /** Asks the database, for a scrape. Without it these are missing; all others are wanted the more. */
    async refresh(): Promise<void> {
      try {
        show(await readOutbox());
      } catch {
        depth.reset();
        age.remove();
      }
    },
  };
}
