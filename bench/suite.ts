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
  /** A smoke test, whose results are not kept. */
  readonly isTrial: boolean;
}
