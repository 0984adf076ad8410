import { statSync } from "node:fs";

import { AppError } from "../../base/errors.ts";

import type { DatabaseFiles } from "./checkpoint-thread.ts";
import { longLogBytes } from "./durability.ts";
import { errorOf, storageError } from "./errors.ts";
import type { Bound } from "./group.ts";
import type { ReadAnswer, ReadMessage } from "./reading-thread.ts";

/** The most reads of a statement that wait. One list may need fifty, and one read takes at most seconds. */
const maxWaiting = 1_000;
/** The pause after a read while the log is long. Without it, reads that follow each other would keep SQLite from restarting the log. */
const restMs = 50;

/** Runs long reads, one at a time. Statements take turns, so that many reads of one delay another by one read at most. */
export interface Reader {
  values(sql: string, parameters: readonly Bound[]): Promise<unknown[][]>;
  /** Waits for the read that is under way. The others are rejected. */
  close(): Promise<void>;
}

/**
 * Reads on a thread of its own, which the first read starts, so that the event loop does not wait for long ones.
 * `onDeath`: the thread ended by itself, and the next read starts another.
 */
export function threadReader(files: DatabaseFiles, onDeath: (why: string) => void): Reader {
  let thread: ReadingThread | null = null;
  let isClosed = false;
  return {
    async values(sql, parameters) {
      if (isClosed) throw storageError("The database is closed");
      const used = (thread ??= startThread(files, (why) => {
        if (thread === used) thread = null;
        if (!isClosed) onDeath(why);
      }));
      const answer = await used.read(sql, parameters);
      if ("error" in answer) throw errorOf(answer.error);
      return answer.rows;
    },
    async close() {
      isClosed = true;
      await thread?.close();
    },
  };
}

type ReadingThread = ReturnType<typeof startThread>;

interface Read {
  readonly parameters: readonly Bound[];
  readonly answer: PromiseWithResolvers<ReadAnswer>;
}

function startThread(files: DatabaseFiles, onEnd: (why: string) => void) {
  // In the compiled program all entry points are in one folder (scripts/build.ts), hence the name alone.
  const worker = new Worker(new URL("./reading-thread.ts", import.meta.url));
  const ended = Promise.withResolvers<void>();
  /** The waiting reads of each statement. Statements take turns in this order. */
  const waiting = new Map<string, Read[]>();
  let underWay: Read | null = null;
  let isResting = false;
  let isClosing = false;
  let why = "";
  const post = (message: ReadMessage) => worker.postMessage(message);

  function next(): void {
    if (underWay !== null || isResting) return;
    const [turn] = waiting;
    if (turn === undefined) {
      if (isClosing) post("close");
      // Only a read that is under way keeps the process alive.
      else worker.unref();
      return;
    }
    const [sql, reads] = turn;
    const read = reads.shift();
    waiting.delete(sql);
    if (reads.length > 0) waiting.set(sql, reads);
    if (read === undefined) return;
    underWay = read;
    worker.ref();
    post({ sql, parameters: read.parameters });
  }

  function rest(): void {
    isResting = true;
    setTimeout(() => {
      isResting = false;
      next();
    }, restMs);
  }

  function reject(error: Error): void {
    for (const { answer } of [...waiting.values()].flat()) answer.reject(error);
    waiting.clear();
  }

  worker.addEventListener("error", ({ message }) => (why = message));
  worker.addEventListener("close", ({ code }) => {
    why ||= `code ${code}`;
    onEnd(why);
    ended.resolve();
    const error = storageError(`The reading thread ended (${why}): see the log`);
    underWay?.answer.reject(error);
    reject(error);
  });
  worker.addEventListener("message", ({ data }) => {
    underWay?.answer.resolve(data);
    underWay = null;
    if (logBytesOf(files) > longLogBytes) rest();
    else next();
  });
  post(files);
  worker.unref();
  return {
    read(sql: string, parameters: readonly Bound[]): Promise<ReadAnswer> {
      const reads = waiting.get(sql) ?? [];
      if (reads.length >= maxWaiting) {
        const detail = "Too many long searches wait; try again";
        throw new AppError("unavailable", detail, { retryAfterSeconds: 5 });
      }
      const read = { parameters, answer: Promise.withResolvers<ReadAnswer>() };
      reads.push(read);
      waiting.set(sql, reads);
      next();
      return read.answer.promise;
    },
    async close(): Promise<void> {
      isClosing = true;
      reject(storageError("The database is closed"));
      worker.ref();
      next();
      await ended.promise;
    },
  };
}

function logBytesOf({ opened }: DatabaseFiles): number {
  const [, log = ""] = opened.keys();
  return statSync(log, { throwIfNoEntry: false })?.size ?? 0;
}
