import { until } from "../../support/app.ts";
import { randomNumbers } from "../../support/random.ts";
import { inWorld } from "../harness/in-world.ts";

import { wrongWithDelivery, wrongWithFlight } from "./check.ts";
import { type Histories, Load } from "./load.ts";
import { Recorder } from "./recorder.ts";
import type { Setup } from "./setups.ts";

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
  const { kind, instances, name } = setup;
  const options = { seats, instances, ...(main !== undefined && { main }) };
  return inWorld(kind, options, async (world) => {
    await world.running();
    const recorder = new Recorder(world, random);
    try {
      const load = await Load.on(recorder, seats);
      const done = await disturbed(recorder, load, size);
      return { ...recorder.counts, ...judged(await load.finish()), faults: done };
    } catch (cause) {
      const logged = world.errors().slice(-3);
      throw new Error([`${name}, seed ${seed}: ${String(cause)}`, ...logged].join("\n"), { cause });
    }
  });
}

/** Runs the load and causes faults in even intervals of it, until all is recorded or something fails. */
async function disturbed(
  recorder: Recorder,
  load: Load,
  { operations, faults }: RoundSize,
): Promise<ReadonlyMap<Fault, number>> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const recorded = (count: number) =>
    until(() => isOver || recorder.counts.operations >= count, patienceMs);
  const done = new Map<Fault, number>();
  const disturb = async () => {
    for (let number = 0; number < faults; number += 1) {
      await recorded(((number + recorder.random()) * operations) / (faults + 1));
      if (isOver) return;
      // At least one kill in each round.
      const fault = await cause(recorder, number === 0 ? 0.5 : recorder.random());
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
async function cause(recorder: Recorder, dice: number): Promise<Fault> {
  const { world } = recorder;
  const { number } = await recorder.instance();
  if (dice < 0.3 && world.cutConnections !== null) {
    await world.cutConnections();
    return "connections cut";
  }
  const isStopped = dice > 0.8;
  await (isStopped ? world.stop(number) : world.kill(number));
  await world.start(number);
  return isStopped ? "restarted" : "killed";
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
