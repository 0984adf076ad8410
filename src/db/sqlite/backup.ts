import { Database } from "bun:sqlite";
import { backup, DatabaseSync } from "node:sqlite";

import { syncCommits } from "./durability.ts";

/** Pages copied between two progress reports: 4 or 8 MB, a few milliseconds. */
const pagesPerReport = 1_000;
/** How long a copy waits for another process's lock. */
const busyTimeoutMs = 5_000;

/**
 * Copies a snapshot of the database in `from` into the empty file `to`, while others keep writing. Uses
 * SQLite's backup API, which reports progress; `vacuum into` does not. `report` receives bytes. The copy
 * is a single file without a write-ahead log, and it is on disk when this resolves.
 */
export async function copyDatabase(
  from: string,
  to: string,
  report: (doneBytes: number, wholeBytes: number) => void,
): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true, timeout: busyTimeoutMs });
  try {
    // An open read transaction pins the snapshot. Without it, each commit of another process restarts the
    // copy, and under steady load it never ends.
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
 * Checkpoints the write-ahead log into the database file and removes the log, so that the file is complete
 * without it. The next start turns the log on again. Throws `SQLITE_BUSY` while another process has the
 * database open, even an idle one.
 */
export function foldLog(file: string): void {
  using client = new Database(file, { readwrite: true });
  syncCommits(client);
  client.run("pragma journal_mode = delete");
}
