import type { Database } from "bun:sqlite";
import { existsSync, realpathSync, statSync } from "node:fs";

import { storageError } from "./errors.ts";

/** Resolves symbolic links to the database file; SQLite keeps its log beside the target. */
export const realFile = (file: string): string => (existsSync(file) ? realpathSync(file) : file);

/** The files of an open database: the database, its write-ahead log, and the index of that log. */
export const filesOf = (file: string): readonly string[] =>
  ["", "-wal", "-shm"].map((end) => `${realFile(file)}${end}`);

/** The `device:inode` of the file that now has this name; null when it does not exist. */
export function identityOf(file: string): string | null {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

/** Watches the files of an open database. */
interface InPlace {
  /**
   * Throws a storage error once a file was removed or replaced, or the log was truncated. SQLite would keep
   * writing to the old files, and acknowledged data would be lost when this process ends.
   */
  require(): void;
  /**
   * Whether closing may checkpoint the log into the database. If the index was replaced or the log was
   * truncated, that would mix old and new pages; the next start reads the log instead.
   */
  mayCheckpoint(): boolean;
}

const frameHeaderBytes = 24;
const logHeaderBytes = 32;

/** The identity of each file of a database, by name. */
export type Identities = ReadonlyMap<string, string | null>;

/** Call it once the database is open and has a log. */
export function identitiesOf(file: string): Identities {
  return new Map(filesOf(file).map((name) => [name, identityOf(name)]));
}

/** Throws a storage error once a file was removed or replaced. Call it before a file is opened by its name again. */
export function requireUnmoved(opened: Identities): void {
  for (const [name, identity] of opened) {
    if (identityOf(name) !== identity) {
      throw lost(`The database file ${name} was removed or replaced`);
    }
  }
}

/** `opened`: the files as they were when the database was opened. */
export function inPlace(client: Database, opened: Identities): InPlace {
  const [, log = "", index = ""] = [...opened.keys()];
  const isSame = (name: string) => identityOf(name) === opened.get(name);
  const pageBytes = Number(client.query("pragma page_size").values()[0]?.[0]);
  // Changes nothing: the second column is the number of frames in the log, according to its index.
  const countFrames = client.query("pragma wal_checkpoint(noop)");

  /** Compares with the index, because another process may truncate the log after a checkpoint. */
  function isLogWhole(): boolean {
    const frames = Number(countFrames.values()[0]?.[1]);
    const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    return frames <= 0 || size >= logHeaderBytes + frames * (frameHeaderBytes + pageBytes);
  }

  return {
    require() {
      requireUnmoved(opened);
      if (!isLogWhole()) throw lost(`The log ${log} was cut short`);
    },
    mayCheckpoint() {
      try {
        return !isSame(log) || (isSame(index) && isLogWhole());
      } catch {
        return false;
      }
    },
  };
}

function lost(what: string): Error {
  return storageError(`${what}: start skyhook again`);
}
