import type { Wrong } from "./opened.ts";
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
