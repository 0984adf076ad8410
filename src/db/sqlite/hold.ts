import { Database } from "bun:sqlite";

import type { Hold } from "../storage.ts";

/**
 * Takes the write lock on a new connection. Throws `SQLITE_BUSY` while another connection holds it.
 */
export function hold(file: string): Hold {
  const client = new Database(file, { readwrite: true });
  try {
    client.run("begin immediate");
  } catch (error) {
    client.close();
    throw error;
  }
  return {
    async requireHeld() {
      if (!client.inTransaction) throw new Error(`The lock on ${file} was lost`);
    },
    async release() {
      client.close();
    },
  };
}
