// The entry of the storage thread: the only connection that writes to a database file. It says when another thread
// should checkpoint (checkpoint-thread.ts), and checkpoints itself only to bound the log.

import { Database } from "bun:sqlite";

import type { DatabaseFiles } from "./checkpoint-thread.ts";
import { closer, configure } from "./connection.ts";
import { longLogBytes } from "./durability.ts";
import { failureOf } from "./errors.ts";
import { type Group, type GroupAnswer, groupRunner } from "./group.ts";
import { inPlace } from "./in-place.ts";

/** First what to open, then groups, then the end. */
export type ThreadMessage = DatabaseFiles | Group | "close";

/** An answer to each group, and, after an answer, that a checkpoint is due. */
export type ThreadAnswer = GroupAnswer | "checkpoint";

declare const self: Worker;

/** How long a group waits for another process's lock before all that waits fails. */
const lockPatienceMs = 2_000;
/** With this much left to checkpoint in the write-ahead log, another thread checkpoints it. */
const checkpointBytes = 4 * 2 ** 20;
/** At this length of the log the storage thread checkpoints it, for example because the other thread died. */
const maxLogBytes = 128 * 2 ** 20;

let target: DatabaseFiles | null = null;
let open: ReturnType<typeof connect> | null = null;
const texts: string[] = [];

self.addEventListener("message", ({ data }: MessageEvent<ThreadMessage>) => {
  if (data === "close") {
    open?.close();
    process.exit(0);
  }
  if ("file" in data) {
    target = data;
    try {
      // Now, because later the process may have no files left to open.
      connection();
    } catch {
      // The first group tries again, and reports the error.
    }
  } else {
    texts.push(...data.newTexts);
    const done = answer(data);
    post(done);
    if ("transactions" in done && isCheckpointDue()) post("checkpoint");
  }
});

const post = (message: ThreadAnswer) => self.postMessage(message);

function isCheckpointDue(): boolean {
  try {
    return open?.isCheckpointDue() ?? false;
  } catch {
    // The next commits find a failing disk too, and report it.
    return false;
  }
}

function connection() {
  if (target === null) throw new Error("The storage thread has not received what to open");
  return (open ??= connect(target));
}

function answer(group: Group): GroupAnswer {
  try {
    return connection().run(group);
  } catch (error) {
    return { error: failureOf(error), isBegun: false, seconds: 0 };
  }
}

function connect({ file, opened }: DatabaseFiles) {
  const client = new Database(file, { readwrite: true, strict: true });
  const close = closer(client);
  try {
    configure(client, lockPatienceMs);
    client.run("pragma wal_autocheckpoint = 0");
    const place = inPlace(client, opened);
    // Changes nothing: returns the frames in the log, and how many of them are in the database already.
    const countFrames = client.prepare("pragma wal_checkpoint(noop)");
    const checkpoint = client.prepare("pragma wal_checkpoint(passive)");
    const pageBytes = Number(client.query("pragma page_size").values()[0]?.[0]);
    return {
      run: groupRunner(client, texts, () => place.require()),
      close,
      /** Returns whether the other thread is to checkpoint. */
      isCheckpointDue(): boolean {
        const [, frames = 0, done = 0] = countFrames.values()[0]?.map(Number) ?? [];
        const [bytes, bytesLeft] = [frames * pageBytes, (frames - done) * pageBytes];
        if (bytesLeft >= checkpointBytes && bytes < maxLogBytes) return true;
        // Fails at once while the other thread checkpoints.
        if (bytesLeft > 0 && bytes >= longLogBytes) checkpoint.values();
        return false;
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
