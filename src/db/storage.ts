import type { Statement, Step, StepResult } from "./statement.ts";

type ResultsOf<Steps extends readonly Step<unknown>[]> = {
  [Index in keyof Steps]: Steps[Index] extends Step<infer Row> ? StepResult<Row> : never;
};

/** An open database. Each call may throw `unavailable` when the database cannot be read or written. */
export interface Storage {
  readonly dialect: "sqlite" | "postgres";
  /** Reads. Never sees a unit of work half-done. */
  all<Values extends object, Row>(
    statement: Statement<Values, Row>,
    values: NoInfer<Values>,
  ): Promise<Row[]>;
  /**
   * Does one unit of work, all or nothing, and resolves after it is on disk with what each step did
   * (nothing, for steps that were left out). Throws the error of the step that failed.
   */
  atomically<const Steps extends readonly Step<unknown>[]>(
    ...steps: Steps
  ): Promise<ResultsOf<Steps>>;
  /**
   * Resolves when what was read before is as safe as a commit: to be asked before an answer acknowledges
   * what only a read has found. A commit whose wait for a standby was broken off can be read before.
   */
  settled(): Promise<void>;
  /** What other processes on the same database are told, and tell us; none where there are no others. */
  readonly signals: Signals | null;
  /** Commits what waits, then closes. Safe to call twice. */
  close(): Promise<void>;
}

/** What a signal is about. */
export type Topic = "notifications" | "seats";

/** Word between the processes on one database. It may be lost: whoever listens also looks for itself. */
export interface Signals {
  /** Tells all other processes, soon: equal signals of one moment are sent as one. Never throws. */
  send(topic: Topic, subject: number): void;
  /** `onGap` is called whenever signals may have been lost, and once when it begins to listen. */
  listen(topic: Topic, onSignal: (subjects: readonly number[]) => void, onGap: () => void): void;
}

/** A database that others can read and not write, until it is released. */
export interface Hold {
  /** Throws when the hold was lost meanwhile, as with its connection. */
  requireHeld(): Promise<void>;
  /** Safe to call twice. */
  release(): Promise<void>;
}

/** Bounds of a database that is a server; SQLite has none of them. */
export interface ServerLimits {
  /** Connections at most, one for signals aside. */
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** How long work is tried again after a lost connection or a collision before it is refused. */
  readonly retryMs: number;
}

/** Watches a database; called on the way of every commit, so it must be quick and never throw. */
export interface StorageObserver {
  /** On opening, these steps brought an older schema up to date. */
  migrated(steps: readonly string[]): void;
  /** On opening, this was worth a look: one line that says what to do. */
  odd(line: string): void;
  /** A unit of work was handed in. What is returned is told the end: units in its group, and its error. */
  unitWaits(): ((units: number, error: unknown) => void) | null;
  /** A group of units was committed, or failed as a whole. */
  groupCommitted(seconds: number, units: number): void;
}
