import { Database } from "bun:sqlite";

import { syncCommits } from "./durability.ts";

/** How long it waits for the lock of another process, and for a checkpoint of the server. */
const patienceMs = 120_000;
const retryMs = 100;

/**
 * Rewrites the database in `file` and empties its log, so that neither has anything left of deleted and changed rows:
 * not on free pages, in the unused parts of others, or in old frames of the log. Others can read meanwhile, but not
 * write. Needs free space for two copies. Throws if another process keeps the log in use.
 */
export async function vacuum(file: string): Promise<void> {
  using client = new Database(file, { readwrite: true });
  client.run(`pragma busy_timeout = ${patienceMs}`);
  syncCommits(client);
  client.run("vacuum");
  const truncate = client.query("pragma wal_checkpoint(truncate)");
  const deadlineMs = performance.now() + patienceMs;
  // A checkpoint does not wait for another one, such as that of the server, which the long log has started.
  while (truncate.values()[0]?.[0] !== 0) {
    if (performance.now() > deadlineMs) {
      throw new Error("The log of the database is still in use by another process: try again");
    }
    await Bun.sleep(retryMs);
  }
}
