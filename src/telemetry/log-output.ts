import { write } from "node:fs";

/** The size of the buffer for lines that cannot be written at once. Further lines are dropped. */
const maxBufferedBytes = 1024 * 1024;
/** The delay before a failed write is retried. */
const retryMs = 500;

/** Writes lines in order without ever blocking or throwing. */
export interface LogOutput {
  write(line: string): void;
  /** Returns the number of lines dropped so far. */
  readonly dropped: () => number;
  /** Resolves when all lines are written, or after `timeoutMs`. */
  readonly drain: (timeoutMs: number) => Promise<void>;
}

/**
 * Writes to the file descriptor `fd`. A full disk, or a pipe whose reader stopped or exited, must not block or
 * fail the code that logs. So writes run in Bun's thread pool, one at a time. Once the buffer is written
 * after lines were dropped, calls `resumed` with the number of dropped lines.
 */
export function logOutput(fd: number, resumed: (dropped: number) => void): LogOutput {
  let waiting: string[] = [];
  /** The bytes being written or retried. A failed write may have written some of them. */
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
      // After the first dropped line, drops all lines until the buffer is empty, so that the log has one gap.
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
