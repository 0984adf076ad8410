import { until } from "../../support/app.ts";
import { randomNumbers } from "../../support/random.ts";

import { wrongWithDelivery, wrongWithFlight } from "./check.ts";
import { Cluster, nameOf, type Setup } from "./cluster.ts";
import { type Histories, Load } from "./load.ts";

/** More than a round uses. */
const flights = 60;
const leastSeats = 3;
const mostSeats = 9;
const usualSize: RoundSize = { operations: 1_500, faults: 4 };
/** A margin for busy machines. */
const patienceMs = 60_000;

export interface Round {
  readonly operations: number;
  readonly unknown: number;
  /** Flights and deliveries. */
  readonly objects: number;
  readonly faults: ReadonlyMap<Fault, number>;
  readonly checkedMs: number;
  /** What cannot be linearized. */
  readonly wrong: readonly string[];
}

export interface RoundSize {
  /** Recorded before the round ends. */
  readonly operations: number;
  readonly faults: number;
}

type Fault = "killed" | "restarted" | "connections cut";

/** Records a history on a new database, with faults, and checks it. `main`: another program than ours. */
export async function playRound(
  setup: Setup,
  seed: number,
  size = usualSize,
  main?: string,
): Promise<Round> {
  const random = randomNumbers(seed);
  const seats = Array.from({ length: flights }, () => {
    return leastSeats + Math.floor(random() * (mostSeats - leastSeats + 1));
  });
  const cluster = await Cluster.open(setup, seats, main);
  try {
    const load = await Load.on(cluster, seats, random);
    const done = await disturbed(cluster, load, random, size);
    const histories = await load.finish();
    return { ...load.counts, ...judged(histories), faults: done };
  } catch (error) {
    const logged = (await cluster.errors()).slice(-3);
    const text = [`${nameOf(setup)}, seed ${seed}: ${String(error)}`, ...logged].join("\n");
    throw new Error(text, { cause: error });
  } finally {
    await cluster.end();
  }
}

/** Runs the load and causes faults in even intervals of it, until all is recorded or something fails. */
async function disturbed(
  cluster: Cluster,
  load: Load,
  random: () => number,
  { operations, faults }: RoundSize,
): Promise<ReadonlyMap<Fault, number>> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const recorded = (count: number) =>
    until(() => isOver || load.counts.operations >= count, patienceMs);
  const done = new Map<Fault, number>();
  const disturb = async () => {
    for (let number = 0; number < faults; number += 1) {
      await recorded(((number + random()) * operations) / (faults + 1));
      if (isOver) return;
      // At least one kill in each round.
      const fault = await cause(cluster, random, number === 0 ? 0.5 : random());
      done.set(fault, (done.get(fault) ?? 0) + 1);
    }
    await recorded(operations);
  };
  // Both end before anything is thrown, so that nothing is started after the end of the cluster.
  const both = [disturb().finally(end), load.run(() => isOver).finally(end)];
  const ends = await Promise.allSettled(both);
  const failed = ends.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return done;
}

/** `dice` chooses the fault; those in the middle are kills. */
async function cause(cluster: Cluster, random: () => number, dice: number): Promise<Fault> {
  const { number } = await cluster.running(random);
  if (dice < 0.3 && cluster.cutConnections !== null) {
    await cluster.cutConnections();
    return "connections cut";
  }
  if (dice > 0.8) {
    await cluster.restart(number);
    return "restarted";
  }
  await cluster.kill(number);
  return "killed";
}

function judged({
  flights: used,
  deliveries,
}: Histories): Pick<Round, "objects" | "checkedMs" | "wrong"> {
  const startedMs = performance.now();
  const wrong = [...used.map(wrongWithFlight), ...deliveries.map(wrongWithDelivery)];
  return {
    objects: wrong.length,
    checkedMs: performance.now() - startedMs,
    wrong: wrong.filter((text) => text !== null),
  };
}
