import type { Database } from "bun:sqlite";
import { existsSync, realpathSync, statSync } from "node:fs";

import { AppError } from "../../base/errors.ts";

/** The file of a database where symbolic links lead to; SQLite keeps its log there. */
export const resolved = (file: string): string => (existsSync(file) ? realpathSync(file) : file);

/** The files of a database that is open: itself, its write-ahead log, and the index of that log. */
export const filesOf = (file: string): readonly string[] =>
  ["", "-wal", "-shm"].map((end) => `${resolved(file)}${end}`);

/** Which file has that name now, as `device:inode`; null when there is none. */
export function identityOf(file: string): string | null {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

/** Watches the files of an open database. */
export interface InPlace {
  /**
   * Throws `unavailable` once a file was removed or replaced, or the log was cut short. SQLite would go on
   * with what it has open, and what we acknowledge would be gone with this process.
   */
  require(): void;
  /**
   * Whether closing may move the log into the database. Where its index is not the one that we have, or a
   * part of it is missing, that would mix old and new pages: the next start reads the log instead.
   */
  mayFold(): boolean;
}

const frameHeaderBytes = 24;
const logHeaderBytes = 32;

export function inPlace(file: string, client: Database): InPlace {
  if (file === ":memory:") return { require() {}, mayFold: () => true };
  const files = filesOf(file);
  const [, log = "", index = ""] = files;
  const opened = new Map(files.map((name) => [name, identityOf(name)]));
  const isSame = (name: string) => identityOf(name) === opened.get(name);
  const pageBytes = Number(client.query("pragma page_size").values()[0]?.[0]);
  // Changes nothing: its second column says how many frames the log has by its index.
  const countFrames = client.query("pragma wal_checkpoint(noop)");

  /** Another process may empty the log after a checkpoint; then its index says so. */
  function isLogWhole(): boolean {
    const frames = Number(countFrames.values()[0]?.[1]);
    const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    return frames <= 0 || size >= logHeaderBytes + frames * (frameHeaderBytes + pageBytes);
  }

  return {
    require() {
      const moved = files.find((name) => !isSame(name));
      if (moved !== undefined) throw lost(`The database file ${moved} was removed or replaced`);
      if (!isLogWhole()) throw lost(`The log ${log} was cut short`);
    },
    mayFold() {
      try {
        // Within a transaction its frames are not counted.
        if (client.inTransaction) client.run("rollback");
        return !isSame(log) || (isSame(index) && isLogWhole());
      } catch {
        return false;
      }
    },
  };
}

function lost(what: string): AppError {
  return new AppError("unavailable", "The database cannot be used at the moment; try again", {
    retryAfterSeconds: 60,
    cause: new Error(`${what}: start skyhook again`),
  });
}
