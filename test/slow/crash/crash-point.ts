import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Where the program dies, as suddenly as by `kill -9` from outside. */
export interface CrashPoint {
  readonly moment: "after statement" | "before commit" | "during commit" | "after commit";
  /** Text in the SQL of the statement; for a commit, of one of its transaction's statements. */
  readonly sql: string;
  /** The how-manieth of those that come after the point was set; by default the first. */
  readonly nth?: number;
}

/** Names the file in which a process finds its crash point. */
export const crashPointVariable = "CRASH_POINT_FILE";

/** Sets the crash point of the processes that watch `file`; null: they live on. */
export function setCrashPoint(file: string, point: CrashPoint | null): void {
  if (point === null) return rmSync(file, { force: true });
  // Under another name first: a process reads all of it or nothing.
  writeFileSync(`${file}.new`, JSON.stringify(point));
  renameSync(`${file}.new`, file);
}

/** Is told of each statement of one connection, and calls `die` where the point in `file` says. */
export interface CrashPoints {
  before(sql: string): void;
  /** It is on its way, and not answered yet. */
  during(sql: string): void;
  after(sql: string): void;
}

/** Makes what is told of a connection; all count the same point. */
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
    /** The statements of the open transaction; null while there is none. */
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
