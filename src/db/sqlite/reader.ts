import { AppError } from "../../base/errors.ts";

import { errorOf, storageError } from "./errors.ts";
import type { Bound } from "./group.ts";
import type { ReadAnswer, ReadMessage } from "./reading-thread.ts";

/** The most reads of a statement that wait. One takes at most seconds, so that the last of them is answered within minutes. */
const maxWaiting = 100;

/** Runs long reads, one at a time. Statements take turns: who sends many of one does not delay another by more than one. */
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

interface Read {
  readonly sql: string;
  readonly parameters: readonly Bound[];
  readonly answer: PromiseWithResolvers<ReadAnswer>;
}

function startThread(file: string, onEnd: () => void) {
  // In the compiled program all entry points are in one folder (scripts/build.ts), hence the name alone.
  const worker = new Worker(new URL("./reading-thread.ts", import.meta.url));
  const ended = Promise.withResolvers<void>();
  /** By statement; the first one is next. */
  const waiting = new Map<string, Read[]>();
  let underWay: Read | null = null;
  let isClosing = false;
  let why = "";
  worker.addEventListener("error", ({ message }) => (why = message));
  worker.addEventListener("close", ({ code }) => {
    onEnd();
    ended.resolve();
    const error = storageError(`The reading thread ended (${why || `code ${code}`}): see the log`);
    underWay?.answer.reject(error);
    for (const { answer } of [...waiting.values()].flat()) answer.reject(error);
  });
  worker.addEventListener("message", ({ data }) => {
    underWay?.answer.resolve(data);
    underWay = null;
    next();
  });
  const post = (message: ReadMessage) => worker.postMessage(message);

  function next(): void {
    if (underWay !== null) return;
    const [turn] = waiting;
    if (turn === undefined) {
      if (isClosing) post("close");
      // Only a read that is under way keeps the process alive.
      else worker.unref();
      return;
    }
    const [sql, [first, ...others]] = turn;
    waiting.delete(sql);
    if (others.length > 0) waiting.set(sql, others);
    if (first === undefined) return;
    underWay = first;
    worker.ref();
    post({ sql, parameters: first.parameters });
  }

  post({ file });
  worker.unref();
  return {
    read(sql: string, parameters: readonly Bound[]): Promise<ReadAnswer> {
      const reads = waiting.get(sql) ?? [];
      if (reads.length >= maxWaiting) {
        const detail = "Too many long searches wait; try again";
        throw new AppError("unavailable", detail, { retryAfterSeconds: 5 });
      }
      const read = { sql, parameters, answer: Promise.withResolvers<ReadAnswer>() };
      waiting.set(sql, [...reads, read]);
      next();
      return read.answer.promise;
    },
    async close(): Promise<void> {
      isClosing = true;
      worker.ref();
      next();
      await ended.promise;
    },
  };
}
