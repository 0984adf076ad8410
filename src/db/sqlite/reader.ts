import { AppError } from "../../base/errors.ts";

import { errorOf, storageError } from "./errors.ts";
import type { Bound } from "./group.ts";
import type { ReadAnswer, ReadMessage } from "./reading-thread.ts";

/** The most reads that wait. One takes at most seconds, so that the last of them is answered within minutes. */
const maxWaiting = 100;

/** Runs long reads, one at a time. */
export interface Reader {
  values(sql: string, parameters: readonly Bound[]): Promise<unknown[][]>;
  close(): Promise<void>;
}

/** Reads on a thread of its own, which the first read starts, so that the event loop does not wait for long ones. */
export function threadReader(file: string): Reader {
  let thread: ReadingThread | null = null;
  return {
    async values(sql, parameters) {
      const used = (thread ??= startThread(file, () => {
        if (thread === used) thread = null;
      }));
      const answer = await used.read(sql, parameters);
      if ("error" in answer) throw errorOf(answer.error);
      return answer.rows;
    },
    async close() {
      await thread?.close();
    },
  };
}

type ReadingThread = ReturnType<typeof startThread>;

function startThread(file: string, onEnd: () => void) {
  // In the compiled program all entry points are in one folder (scripts/build.ts), hence the name alone.
  const worker = new Worker(new URL("./reading-thread.ts", import.meta.url));
  const ended = Promise.withResolvers<void>();
  /** Answers come in the order of the reads. */
  const waiting: PromiseWithResolvers<ReadAnswer>[] = [];
  let why = "";
  worker.addEventListener("error", ({ message }) => (why = message));
  worker.addEventListener("close", ({ code }) => {
    onEnd();
    ended.resolve();
    const error = storageError(`The reading thread ended (${why || `code ${code}`}): see the log`);
    for (const { reject } of waiting.splice(0)) reject(error);
  });
  worker.addEventListener("message", ({ data }) => {
    waiting.shift()?.resolve(data);
    if (waiting.length === 0) worker.unref();
  });
  const post = (message: ReadMessage) => worker.postMessage(message);
  post({ file });
  // Only a read that is under way keeps the process alive.
  worker.unref();
  return {
    read(sql: string, parameters: readonly Bound[]): Promise<ReadAnswer> {
      if (waiting.length >= maxWaiting) {
        const detail = "Too many long searches wait; try again";
        throw new AppError("unavailable", detail, { retryAfterSeconds: 5 });
      }
      const answer = Promise.withResolvers<ReadAnswer>();
      waiting.push(answer);
      worker.ref();
      post({ sql, parameters });
      return answer.promise;
    },
    async close(): Promise<void> {
      worker.ref();
      post("close");
      await ended.promise;
    },
  };
}
