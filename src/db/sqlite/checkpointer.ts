import type { CheckpointMessage, DatabaseFiles } from "./checkpoint-thread.ts";

/** Checkpoints a database on a thread of its own, which it starts when it is first needed. */
export interface Checkpointer {
  /** Starts a checkpoint, unless one is under way. */
  start(): void;
  /** Resolves when the thread has closed the database. */
  close(): Promise<void>;
}

/** The shortest time between two starts of the thread. Without it, the storage thread bounds the log. */
const restartMs = 1_000;

export function checkpointer(files: DatabaseFiles): Checkpointer {
  let thread: ReturnType<typeof startThread> | null = null;
  let isBusy = false;
  let startedMs = Number.NEGATIVE_INFINITY;

  function startThread() {
    // In the compiled program all entry points are in one folder (scripts/build.ts), hence the name alone.
    startedMs = performance.now();
    const worker = new Worker(new URL("./checkpoint-thread.ts", import.meta.url));
    const ended = Promise.withResolvers<void>();
    worker.addEventListener("message", () => (isBusy = false));
    worker.addEventListener("close", () => {
      thread = null;
      isBusy = false;
      ended.resolve();
    });
    const post = (message: CheckpointMessage) => worker.postMessage(message);
    post(files);
    worker.unref();
    return { post, ended: ended.promise, ref: () => worker.ref() };
  }

  return {
    start() {
      if (isBusy || (thread === null && performance.now() < startedMs + restartMs)) return;
      isBusy = true;
      thread ??= startThread();
      thread.post("checkpoint");
    },
    async close() {
      isBusy = true;
      thread?.ref();
      thread?.post("close");
      await thread?.ended;
    },
  };
}
