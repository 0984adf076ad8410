import { closeSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";

import { syncNames, syncToDisk } from "../base/private-file.ts";
import { copyDatabase } from "../db/sqlite/backup.ts";
import { damageOf, strangenessOf } from "../db/sqlite/inspect.ts";

import { codeOf, messageOf } from "./failures.ts";
import { progress } from "./progress.ts";

const bytesPerMegabyte = 1e6;

/** A whole and checked copy of a database, which still has a name of its own. */
export interface Draft {
  readonly file: string;
  /** As people read it: `664 MB`. */
  readonly size: string;
  /** Gives it the name that it is for, in place of what has that name. On disk when this returns. */
  publish(): void;
  /** Removes what was not published. */
  discard(): void;
}

/**
 * Copies the database `from` into a file beside `to` that only its owner can read, and checks the copy.
 * Whoever is ended in the middle leaves `<to>.<letters>.partial` behind, and never half a copy under the
 * name itself. Throws an error that says what to do.
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
      bar.at(done / whole, `${megabytes(done)} of ${megabytes(whole)}`);
    });
    bar.at(1, "checking");
    const damage = damageOf(file);
    if (damage !== null) throw new Error(`${from} is damaged (${damage}): use an earlier backup`);
    return { file, size: megabytes(statSync(file).size), publish, discard };
  } catch (error) {
    discard();
    throw copyFault(error, to);
  } finally {
    bar.end();
  }

  function publish(): void {
    syncToDisk(file);
    renameSync(file, to);
    // The name, too, is only safe once its folder is.
    syncNames(dirname(to));
  }
}

function megabytes(bytes: number): string {
  const value = bytes / bytesPerMegabyte;
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en")} MB`;
}

/** A failure of the disk or the folder, with what to do about it; others as they are. */
function copyFault(error: unknown, to: string): unknown {
  if (codeOf(error) === null) return error;
  const why = messageOf(error);
  return new Error(
    `The copy failed (${why}): check that ${dirname(to)} can be written and has room`,
    {
      cause: error,
    },
  );
}
