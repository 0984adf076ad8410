/** A benchmark suite: `bun run bench <name>`. */
export interface Suite {
  readonly name: string;
  readonly about: string;
  /** Runs the suite and returns its section of RESULTS.md without the heading. */
  run(options: Options): Promise<string>;
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
  /** The versions of Skyhook to compare, oldest first. */
  readonly programs: readonly Program[];
  /** How much longer syncs take than the disk needs, one entry for each disk to simulate. */
  readonly fsyncMs: readonly number[];
  /** Whether to keep the results of former runs of the same programs. */
  readonly adds: boolean;
  /** A smoke test, whose results are not kept. */
  readonly isTrial: boolean;
}

/** A version of Skyhook. */
export interface Program {
  readonly name: string;
  /** Contains `src/`. */
  readonly folder: string;
}
