import { SonicBoom } from "sonic-boom";

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
  // Not pino's `destination`: at exit it writes without a time limit, and after EPIPE it never writes again.
  const output = new SonicBoom({ fd, sync: false });
  let bufferedBytes = 0;
  let dropped = 0;
  let droppedBefore = 0;
  let retry: Timer | undefined;
  output.on("write", (written) => void (bufferedBytes -= written));
  output.on("error", () => {
    clearTimeout(retry);
    retry = setTimeout(() => output.write(""), retryMs).unref();
  });
  output.on("drain", () => {
    if (dropped === droppedBefore) return;
    const count = dropped - droppedBefore;
    droppedBefore = dropped;
    resumed(count);
  });

  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      const isFull = bufferedBytes > 0 && bufferedBytes + bytes > maxBufferedBytes;
      // After the first dropped line, drops all lines until the buffer is empty, so that the log has one gap.
      if (isFull || dropped > droppedBefore) {
        dropped += 1;
        return;
      }
      bufferedBytes += bytes;
      output.write(line);
    },
    dropped: () => dropped,
    async drain(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      while (bufferedBytes > 0 && performance.now() < deadline) await Bun.sleep(5);
    },
  };
}
