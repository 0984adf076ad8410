import { Database } from "bun:sqlite";
import { backup, DatabaseSync } from "node:sqlite";

/** So many pages are copied between two reports: 4 MB, some milliseconds. */
const pagesPerReport = 1_000;
/** How long the copy waits for a lock that another process holds. */
const busyTimeoutMs = 5_000;

/**
 * Copies the database in `from`, as it is at this moment, into the empty file `to`, while others
 * write on. Page by page through SQLite's backup API, so that a copy tells how far it has come, which
 * `vacuum into` does not. `report` receives bytes. The copy is one file that needs no log beside it, and
 * on disk when this resolves.
 */
export async function copyDatabase(
  from: string,
  to: string,
  report: (doneBytes: number, wholeBytes: number) => void,
): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: busyTimeoutMs });
  try {
    // A read that stays open holds the moment. Without it each commit of another process makes the copy
    // begin again, and under steady load it never ends.
    source.exec("begin");
    source.prepare("select count(*) from sqlite_schema").get();
    const pageBytes = Number(source.prepare("pragma page_size").get()?.["page_size"]);
    await backup(source, to, {
      rate: pagesPerReport,
      progress: ({ totalPages, remainingPages }) =>
        report((totalPages - remainingPages) * pageBytes, totalPages * pageBytes),
    });
  } finally {
    source.close();
  }
  foldLog(to);
}

/**
 * Moves what is in the log into the database file, removes the log, and leaves the file so that it
 * stands alone; the next start brings the log back. Throws `SQLITE_BUSY` while another process has the
 * database open, even if that does nothing.
 */
export function foldLog(file: string): void {
  using client = new Database(file, { readwrite: true });
  client.run("pragma synchronous = full");
  client.run("pragma journal_mode = delete");
}
