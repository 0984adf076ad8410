// The entry of the storage thread: the only connection that writes to a database file. It answers each group
// before it checkpoints, so that only the next group waits for a checkpoint.

import { Database } from "bun:sqlite";

import { closer, configure } from "./connection.ts";
import { failureOf } from "./errors.ts";
import { type Group, type GroupAnswer, groupRunner } from "./group.ts";
import { type Identities, inPlace } from "./in-place.ts";

/** First what to open, then groups, then the end. Each group is answered with a `GroupAnswer`. */
export type ThreadMessage = OpenMessage | Group | "close";

interface OpenMessage {
  readonly file: string;
  readonly opened: Identities;
}

declare const self: Worker;

/** How long a group waits for another process's lock before all that waits fails. */
const lockPatienceMs = 2_000;
/** Frames in the log from which on it is checkpointed; a frame is a page. SQLite's own default. */
const checkpointFrames = 1_000;

let target: OpenMessage | null = null;
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
    self.postMessage(answer(data));
    open?.checkpointIfDue();
  }
});

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

function connect({ file, opened }: OpenMessage) {
  const client = new Database(file, { readwrite: true, strict: true });
  const close = closer(client);
  try {
    configure(client, lockPatienceMs);
    client.run("pragma wal_autocheckpoint = 0");
    // The statement journal, which undoes a failing statement, needs no disk.
    client.run("pragma temp_store = memory");
    const place = inPlace(client, opened);
    // Changes nothing: returns the frames in the log, and how many of them are in the database already.
    const countFrames = client.prepare("pragma wal_checkpoint(noop)");
    const checkpoint = client.prepare("pragma wal_checkpoint(passive)");
    return {
      run: groupRunner(client, texts, () => place.require()),
      close,
      checkpointIfDue() {
        try {
          const [, frames, done] = countFrames.values()[0]?.map(Number) ?? [];
          if (frames === undefined || frames < checkpointFrames || frames === done) return;
          checkpoint.values();
        } catch {
          // The next commits find a failing disk too, and report it.
        }
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
