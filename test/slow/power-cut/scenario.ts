import { sqlite } from "../harness/databases.ts";
import { inWorld } from "../harness/in-world.ts";
import type { World } from "../harness/world.ts";

import type { Wrong } from "./opened.ts";
import type { Recorder } from "./recorder.ts";
import type { Step } from "./steps.ts";

/** What programs have said, so far, that must survive a power cut. */
export interface Claims {
  /** Notes what a program says in this step. */
  hear(step: Step): void;
  /** How many claims there are. */
  count(): number;
  /** What is lost or damaged in the folder that a power cut left. */
  wrongIn(folder: string): Promise<Wrong>;
}

/** Programs that are recorded, and what a power cut must not take from them. */
export interface Scenario {
  readonly name: string;
  /** Runs the programs, all of which have ended when it resolves. */
  record(recorder: Recorder, requests: number): Promise<void>;
  claims(): Claims;
}

/** Has the program in a world recorded. */
export const recordedWorld = (
  recorder: Recorder,
  seats: readonly number[],
  use: (world: World) => Promise<void>,
): Promise<void> =>
  inWorld(sqlite, { folder: recorder.root, seats, through: () => recorder.recorded() }, use);
