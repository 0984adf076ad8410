import { closeSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";

import { errorCode } from "../../base/errors.ts";
import { syncNames, syncToDisk } from "../../base/private-file.ts";
import { copyDatabase } from "../../db/sqlite/backup.ts";
import { damageOf, strangenessOf } from "../../db/sqlite/inspect.ts";
import { messageOf } from "../kit/errors.ts";
import { progress } from "../kit/progress.ts";

const bytesPerMegabyte = 1e6;

/** A complete and verified copy of a database, still under a temporary name. */
interface Draft {
  readonly file: string;
  /** For people: `664 MB`. */
  readonly size: string;
  /** Renames the copy to its destination and replaces a file there. On disk when this returns. */
  publish(): void;
  /** Removes the copy if it was not published. */
  discard(): void;
}

/**
 * Copies the database `from` to a file beside `to` that only its owner can read, and verifies the copy. A
 * process that is killed leaves `<to>.<letters>.partial` behind, but never an incomplete file `to`. Throws an
 * error that says what to do.
 */
export async function draftCopy(from: string, to: string): Promise<Draft> {
  const file = `${to}.${crypto.randomUUID().slice(0, 8)}.partial`;
  const discard = () => {
    for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
  };
  const strange = strangenessOf(from);
  if (strange !== null) throw new Error(`${from} cannot be used (${strange}): name another file`);
  const bar = progress("copying", 1);
  try {
    closeSync(openSync(file, "wx", 0o600));
    await copyDatabase(from, file, (done, whole) => {
      const amount = [done / bytesPerMegabyte, "MB"] as const;
      bar.at(done / whole, `${megabytes(done)} of ${megabytes(whole)}`, amount);
    });
    bar.at(1, "checking");
    const damage = damageOf(file);
    if (damage !== null) throw new Error(`${from} is damaged (${damage}): use an earlier backup`);
    return { file, size: megabytes(statSync(file).size), publish, discard };
  } catch (error) {
    discard();
    throw withAdvice(error, to);
  } finally {
    bar.end();
  }

  function publish(): void {
    syncToDisk(file);
    renameSync(file, to);
    // The rename is durable only once the folder is synced.
    syncNames(dirname(to));
  }
}

/** `664 MB`, for people. */
export function megabytes(bytes: number): string {
  const value = bytes / bytesPerMegabyte;
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en")} MB`;
}

/** Adds advice to an error of the disk or the folder; returns other errors unchanged. */
function withAdvice(error: unknown, to: string): unknown {
  if (errorCode(error) === null) return error;
  const why = messageOf(error);
  return new Error(
    `The copy failed (${why}): check that ${dirname(to)} is writable and has free space`,
    {
      cause: error,
    },
  );
}
