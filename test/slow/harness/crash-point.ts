import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** The point at which the program kills itself with SIGKILL. */
export interface CrashPoint {
  readonly moment: "after statement" | "before commit" | "during commit" | "after commit";
  /** Text in the SQL of the statement; for a commit, of one of its transaction's statements. */
  readonly sql: string;
  /** Which match to use, counted from when the point was set; by default the first. */
  readonly nth?: number;
}

/** The environment variable with the file of a process's crash point. */
export const crashPointVariable = "CRASH_POINT_FILE";

/** Sets the crash point of the processes that watch `file`; null removes it. */
export function setCrashPoint(file: string, point: CrashPoint | null): void {
  if (point === null) return rmSync(file, { force: true });
  // Write and rename, so that a process never reads an incomplete file.
  writeFileSync(`${file}.new`, JSON.stringify(point));
  renameSync(`${file}.new`, file);
}

/** Receives each statement of one connection, and calls `die` at the crash point in `file`. */
export interface CrashPoints {
  before(sql: string): void;
  /** The statement was sent and has no answer yet. */
  during(sql: string): void;
  after(sql: string): void;
}

/** Makes an observer for a connection. All observers share one count. */
export function crashPoints(file: string, die: () => void): () => CrashPoints {
  let count = 0;

  function pass(moment: CrashPoint["moment"], statements: readonly string[]): void {
    if (!existsSync(file)) return;
    const point: CrashPoint = JSON.parse(readFileSync(file, "utf8"));
    if (point.moment !== moment || !statements.some((sql) => sql.includes(point.sql))) return;
    count += 1;
    if (count === (point.nth ?? 1)) die();
  }

  return () => {
    /** The statements of the open transaction; null outside a transaction. */
    let transaction: string[] | null = null;
    return {
      before(sql) {
        if (sql === "commit") pass("before commit", transaction ?? []);
      },
      during(sql) {
        if (sql === "commit") pass("during commit", transaction ?? []);
      },
      after(sql) {
        if (sql.startsWith("begin")) transaction = [];
        transaction?.push(sql);
        pass("after statement", [sql]);
        if (sql === "commit") pass("after commit", transaction ?? []);
        if (sql === "commit" || sql === "rollback") transaction = null;
      },
    };
  };
}
