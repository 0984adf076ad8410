import { AppError } from "../errors.ts";

import type { claimDue } from "./sqlite/claim.ts";
import { openSqlite } from "./sqlite/open.ts";
import type { Statement, Step } from "./sql.ts";

/** What a step did: the rows it returned, and how many it returned or changed. */
export interface StepResult<Row> {
  readonly rows: readonly Row[];
  readonly touched: number;
}
type ResultsOf<Steps extends readonly Step<unknown>[]> = {
  [Index in keyof Steps]: Steps[Index] extends Step<infer Row> ? StepResult<Row> : never;
};

/** An open database. Each call may throw `unavailable` when the database cannot be read or written. */
export interface Storage {
  readonly dialect: "sqlite";
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
  /** Leases due notifications; a statement of its own in each dialect. */
  readonly claimDue: typeof claimDue;
  /** Commits what waits, then closes. Safe to call twice. */
  close(): Promise<void>;
}

/** Watches commits; called on the way of every one of them, so it must be quick and never throw. */
export interface CommitObserver {
  /** A unit of work was handed in. What is returned is told the end: units in its group, and its error. */
  unitWaits(): ((units: number, error: unknown) => void) | null;
  /** A group of units was committed, or failed as a whole. */
  groupCommitted(seconds: number, units: number): void;
}

const nobody: CommitObserver = { unitWaits: () => null, groupCommitted() {} };

/**
 * Opens the database that `url` names and brings it to this program's schema. Throws an `Error` with
 * one clear line when the URL is of no known kind or the database is newer than the program.
 */
export function openStorage(url: string, observer: CommitObserver = nobody): Storage {
  if (url.startsWith("sqlite:")) return openSqlite(url.slice("sqlite:".length), observer);
  throw new AppError(
    "internal",
    `DATABASE_URL must start with "sqlite:"; PostgreSQL is not supported by this version`,
  );
}
