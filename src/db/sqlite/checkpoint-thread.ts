// The entry of the thread that checkpoints: it copies committed pages from the log to the database and syncs both,
// while the storage thread goes on committing. Answers each request when it is done.

import { Database } from "bun:sqlite";

import { closer } from "./connection.ts";
import { syncCommits } from "./durability.ts";
import { type Identities, inPlace, requireUnmoved } from "./in-place.ts";

/** First what to open, then requests, then the end. */
export type CheckpointMessage = DatabaseFiles | "checkpoint" | "close";

/** An open database. */
export interface DatabaseFiles {
  readonly file: string;
  readonly opened: Identities;
}

declare const self: Worker;

let files: DatabaseFiles | null = null;
let open: ReturnType<typeof connect> | null = null;

self.addEventListener("message", ({ data }: MessageEvent<CheckpointMessage>) => {
  if (data === "close") {
    open?.close();
    process.exit(0);
  }
  if (data === "checkpoint") {
    try {
      if (files !== null) (open ??= connect(files)).checkpoint();
    } catch {
      // The next commits find a failing disk or a replaced file too, and report it.
    }
    self.postMessage("done");
  } else files = data;
});

function connect({ file, opened }: DatabaseFiles) {
  requireUnmoved(opened);
  const client = new Database(file, { readwrite: true, strict: true });
  const close = closer(client);
  try {
    syncCommits(client);
    const place = inPlace(client, opened);
    // Passive: waits for no reader or writer, and leaves in the log what readers still need.
    const checkpoint = client.prepare("pragma wal_checkpoint(passive)");
    return {
      close,
      checkpoint() {
        place.require();
        checkpoint.values();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
