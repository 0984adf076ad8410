import type { Metrics } from "../../telemetry/metrics.ts";
import type { Destination } from "../model/destination.ts";

import type { DestinationCache } from "./destination-cache.ts";

/** The most names that are labels, so that the memory of the metrics and of what scrapes them is bounded. */
const maxLabels = 50;

/** The label of a destination: its name, `users` for those of users, `other` beyond the first 50 names. */
export type DestinationLabel = (destination: Pick<Destination, "name" | "ownerId">) => string;

export function destinationLabels(): DestinationLabel {
  const names = new Set<string>();
  return ({ name, ownerId }) => {
    // Users choose names too, and could use up the labels.
    if (ownerId !== null) return "users";
    if (names.size < maxLabels) names.add(name);
    return names.has(name) ? name : "other";
  };
}

/** The queue of one destination. */
interface DestinationQueue {
  readonly id: string;
  readonly waiting: number;
  readonly dead: number;
  /** Time of creation of the oldest waiting delivery, in milliseconds since the epoch; null without one. */
  readonly oldestWaitingMs: number | null;
}

interface Parts {
  readonly destinations: Pick<DestinationCache, "list">;
  readonly labelOf: DestinationLabel;
  readonly readQueues: (ids: readonly Destination["id"][]) => Promise<readonly DestinationQueue[]>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Reads the queues of the operators' destinations at each scrape. */
export function destinationMetrics(metrics: Metrics, parts: Parts): void {
  const { destinations, labelOf, readQueues, now } = parts;
  const depth = metrics.gauge({
    name: "skyhook_destination_deliveries",
    help: "Waiting and dead deliveries by destination, at most 10,000 each",
    labels: ["destination", "status"],
  });
  const age = metrics.gauge({
    name: "skyhook_destination_oldest_seconds",
    help: "Age of the oldest waiting delivery by destination",
    labels: ["destination"],
  });
  const open = metrics.gauge({
    name: "skyhook_destination_circuit_open",
    help: "1 while nothing but probes is sent to a destination after many failures",
    labels: ["destination"],
  });

  metrics.onScrape(async () => {
    for (const gauge of [depth, age, open]) gauge.reset();
    try {
      const known = destinations.list().map(({ destination }) => destination);
      await show(known.filter(({ ownerId }) => ownerId === null));
    } catch {
      // If the database is down, omits only these metrics, because the others are needed then.
    }
  });

  async function show(operators: readonly Destination[]): Promise<void> {
    const queues = await readQueues(operators.map(({ id }) => id));
    const byId = new Map(queues.map((queue) => [queue.id, queue]));
    for (const [destination, group] of Map.groupBy(operators, labelOf)) {
      const own = group.flatMap(({ id }) => byId.get(id) ?? []);
      const oldest = Math.min(...own.map(({ oldestWaitingMs }) => oldestWaitingMs ?? Infinity));
      depth.set({ destination, status: "waiting" }, sum(own.map(({ waiting }) => waiting)));
      depth.set({ destination, status: "dead" }, sum(own.map(({ dead }) => dead)));
      // After the clock was set back, creation times can be in the future.
      age.set({ destination }, oldest === Infinity ? 0 : Math.max(0, now() - oldest) / 1_000);
      open.set({ destination }, group.some(({ openUntil }) => openUntil !== null) ? 1 : 0);
    }
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
