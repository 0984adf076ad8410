/** A set of claims about speed that are measured together: `bun run bench <name>`. */
export interface Suite {
  readonly name: string;
  readonly about: string;
  /** Measures, and returns its section of RESULTS.md without the heading. */
  run(options: Options): Promise<string>;
}

export interface Options {
  readonly rounds: number;
  /** Length of one timed run. */
  readonly seconds: number;
  /** Sent before each timed run and not counted, so that the server's code is compiled. */
  readonly warmUpSeconds: number;
  readonly connections: number;
  /** Length of the list whose pages are compared. */
  readonly rows: number;
}
