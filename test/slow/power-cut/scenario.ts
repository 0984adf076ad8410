import { testGateway } from "../../support/gateway.ts";

import type { Wrong } from "./opened.ts";
import type { Recorder } from "./recorder.ts";
import type { Step } from "./steps.ts";

/** What programs have said, so far, that must survive a power cut. */
export interface Claims {
  /** Notes what a program says in this step. */
  hear(step: Step): void;
  /** How many claims there are. */
  readonly count: number;
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

/** Calls `use` with the settings of an operator gateway that accepts everything. */
export async function withGateway(
  use: (env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const gateway = testGateway(() => new Response());
  try {
    await use(gateway.env);
  } finally {
    await gateway.stop();
  }
}
