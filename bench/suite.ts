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
  /** The duration of the untimed load before each run, during which the server's code is compiled. */
  readonly warmUpSeconds: number;
  readonly connections: number;
  /** The length of the list whose pages are compared. */
  readonly rows: number;
}
