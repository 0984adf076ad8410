import type { Figures } from "./goals.ts";

/** A benchmark suite: `bun run bench <name>`. */
export interface Suite {
  readonly name: string;
  readonly about: string;
  run(options: Options): Promise<Report>;
}

/** What a suite measured. */
export interface Report {
  /** With U if a figure is compared with it. Otherwise, U is measured once, after the suite. */
  readonly figures: Figures;
  /** What else the result depends on. */
  readonly notes?: readonly string[];
  /** How it was measured, and tables. */
  readonly text: readonly string[];
}

export interface Options {
  readonly rounds: number;
  /** The duration of a timed run. */
  readonly seconds: number;
  /**
   * Requests or deliveries before each timed run. By count, not by time: a slower program would have compiled less
   * of its code.
   */
  readonly warmUp: number;
  readonly connections: number;
  /** The length of the list whose pages are compared. */
  readonly rows: number;
  /** A smoke test, whose results are not kept. */
  readonly isTrial: boolean;
}
