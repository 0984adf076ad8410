import type { Later, Statement, Write, WriteResult } from "./statement.ts";

/** The results of the writes. Those of `Later` writes are not returned, so they come last. */
type ResultsOf<Writes extends readonly (Write<unknown> | Later)[]> = {
  [Index in keyof Writes]: Writes[Index] extends Write<infer Row> ? WriteResult<Row> : never;
};

/** An open database. Each call may throw `unavailable` when the database cannot be read or written. */
export interface Storage {
  readonly dialect: "sqlite" | "postgres";
  /**
   * Reads committed rows. `long`: it may read many more than it returns. SQLite, which otherwise reads on the event
   * loop, then reads on another thread.
   */
  all<Values extends object, Row>(
    statement: Statement<Values, Row>,
    values: NoInfer<Values>,
    pace?: "long" | "short",
  ): Promise<Row[]>;
  /**
   * Runs statements as one transaction. Resolves once it is on disk, with the result of each statement;
   * a skipped statement has no rows. Throws the error of the statement that failed.
   * Gives new events their positions (`Place`).
   */
  atomically<const Writes extends readonly (Write<unknown> | Later)[]>(
    ...writes: Writes
  ): Promise<ResultsOf<Writes>>;
  /**
   * Resolves once everything read so far is durable. Call it before a response acknowledges data that
   * came from a read only: a commit is readable while it still waits for a standby.
   */
  settled(): Promise<void>;
  /** Messages between processes on one database; null when only one process can use the database. */
  readonly signals: Signals | null;
  /** Commits waiting transactions, then closes. Safe to call twice. */
  close(): Promise<void>;
}

export type Topic = "notifications" | "destinations" | "seats";

/** Messages between the processes on one database. Messages may be lost, so listeners also poll. */
export interface Signals {
  /** Sends to all other processes after a short delay; duplicates within it are sent once. Never throws. */
  send(topic: Topic, subject: number): void;
  /** Calls `onGap` whenever signals may have been lost, and once when listening starts. */
  listen(topic: Topic, onSignal: (subjects: readonly number[]) => void, onGap: () => void): void;
}

/** A lock on a database: others can read it, but not write to it, until it is released. */
export interface Hold {
  /** Throws when the lock was lost, for example because its connection broke. */
  requireHeld(): Promise<void>;
  /** Safe to call twice. */
  release(): Promise<void>;
}

/** Limits for a database server; they do not apply to SQLite. */
export interface ServerLimits {
  /** Maximum number of connections, without the one for signals. */
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** How long a transaction is retried after a lost connection or a deadlock before it fails. */
  readonly retryMs: number;
}

/** Observes a database. Its methods run on every commit, so they must be fast and never throw. */
export interface StorageObserver {
  /** Called while opening, when these migrations were applied to an older schema. */
  migrated(names: readonly string[]): void;
  /** Called while opening, when something needs attention. The line says what to do. */
  warning(line: string): void;
  /**
   * Called when a transaction starts to wait for its commit. Returns a callback for its end, which receives
   * the size of its group and its error.
   */
  transactionWaits(): ((transactions: number, error: unknown) => void) | null;
  /** Called when a group commit succeeded or failed. */
  groupCommitted(seconds: number, transactions: number): void;
}
