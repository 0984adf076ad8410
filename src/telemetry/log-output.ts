import { write } from "node:fs";

/** Lines that cannot be written at once wait in memory, up to this size; those beyond it are dropped. */
const maxBufferedBytes = 1024 * 1024;
/** After a failed write, as on a full disk, the next one waits this long. */
const retryMs = 500;

/** Writes lines in order without ever blocking or throwing. */
export interface LogOutput {
  write(line: string): void;
  /** How many lines were dropped so far. */
  readonly dropped: () => number;
  /** Resolves when all is written, or after `timeoutMs`. */
  readonly drain: (timeoutMs: number) => Promise<void>;
}

/**
 * Writes to the file descriptor `fd`. A disk may be full, and the reader of a pipe may have stopped or ended;
 * none of it may hold up or fail what is logged about. So each write runs in Bun's thread pool, one at a
 * time. `resumed` is called when lines can be written again after some were dropped, with their number.
 */
export function logOutput(fd: number, resumed: (dropped: number) => void): LogOutput {
  let waiting: string[] = [];
  /** What is being written, or is to be tried again. A failed write may have written a part of it. */
  let chunk = Buffer.alloc(0);
  let bufferedBytes = 0;
  let isBusy = false;
  let dropped = 0;
  let droppedBefore = 0;

  function writeNext(): void {
    isBusy = chunk.length > 0 || waiting.length > 0;
    if (!isBusy) return;
    if (chunk.length === 0) {
      chunk = Buffer.from(waiting.join(""));
      waiting = [];
    }
    write(fd, chunk, 0, chunk.length, null, (error, written) => {
      if (error !== null || written === 0) {
        setTimeout(writeNext, retryMs).unref();
        return;
      }
      chunk = chunk.subarray(written);
      bufferedBytes -= written;
      if (bufferedBytes === 0 && dropped > droppedBefore) {
        const count = dropped - droppedBefore;
        droppedBefore = dropped;
        resumed(count);
      }
      writeNext();
    });
  }

  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      // Once lines are missing the rest is dropped too until the buffer is empty: one gap, not many.
      if (dropped > droppedBefore || bufferedBytes + bytes > maxBufferedBytes) {
        dropped += 1;
        return;
      }
      waiting.push(line);
      bufferedBytes += bytes;
      if (!isBusy) writeNext();
    },
    dropped: () => dropped,
    async drain(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      while (bufferedBytes > 0 && performance.now() < deadline) await Bun.sleep(5);
    },
  };
}
