import type { Statement, Write, WriteResult } from "./statement.ts";

type ResultsOf<Writes extends readonly Write<unknown>[]> = {
  [Index in keyof Writes]: Writes[Index] extends Write<infer Row> ? WriteResult<Row> : never;
};

/** An open database. Each call may throw `unavailable` when the database cannot be read or written. */
export interface Storage {
  readonly dialect: "sqlite" | "postgres";
  /** Reads committed rows. */
  all<Values extends object, Row>(
    statement: Statement<Values, Row>,
    values: NoInfer<Values>,
  ): Promise<Row[]>;
  /**
   * Runs statements as one transaction, all or nothing. Resolves once it is on disk, with the result of
   * each statement; a skipped one has no rows. Throws the error of the statement that failed.
   */
  atomically<const Writes extends readonly Write<unknown>[]>(
    ...writes: Writes
  ): Promise<ResultsOf<Writes>>;
  /**
   * Resolves once all that was read before is durable. Call it before a response acknowledges something
   * that only a read has found: a commit that still waits for a standby can be read already.
   */
  settled(): Promise<void>;
  /** Messages between processes on one database; null where there can be only one process. */
  readonly signals: Signals | null;
  /** Commits waiting transactions, then closes. Safe to call twice. */
  close(): Promise<void>;
}

/** What a signal is about. */
export type Topic = "notifications" | "seats";

/** Messages between the processes on one database. One may be lost, so listeners also poll. */
export interface Signals {
  /** Sends to all other processes, soon; equal signals of one moment are sent once. Never throws. */
  send(topic: Topic, subject: number): void;
  /** Calls `onGap` whenever signals may have been lost, and once when it begins to listen. */
  listen(topic: Topic, onSignal: (subjects: readonly number[]) => void, onGap: () => void): void;
}

/** A database that others can read and not write, until it is released. */
export interface Hold {
  /** Throws when the hold was lost meanwhile, as with its connection. */
  requireHeld(): Promise<void>;
  /** Safe to call twice. */
  release(): Promise<void>;
}

/** Limits for a database server; SQLite has none of them. */
export interface ServerLimits {
  /** Connections at most, beside the one for signals. */
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** How long work is retried after a lost connection or a deadlock before it fails. */
  readonly retryMs: number;
}

/** Observes a database. Called on every commit, so it must be quick and never throw. */
export interface StorageObserver {
  /** While opening, these migrations were applied to an older schema. */
  migrated(names: readonly string[]): void;
  /** While opening, something needs attention: one line that says what to do. */
  warning(line: string): void;
  /** A transaction waits for its commit. Returns what receives its end: the size of its group, its error. */
  transactionWaits(): ((transactions: number, error: unknown) => void) | null;
  /** A group commit ended, or failed as a whole. */
  groupCommitted(seconds: number, transactions: number): void;
}
