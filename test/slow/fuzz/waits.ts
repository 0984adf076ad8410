import { readFileSync } from "node:fs";

/** Milliseconds of a clock that does not jump, the same for all threads. */
export const nowMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;

/**
 * How long a thread was ready to run while the machine ran others: the second field of schedstat, in
 * nanoseconds (Linux, Documentation/scheduler/sched-stats.rst). A server that waits for a processor is
 * not blocked.
 */
function waitedMs(file: string): number {
  const [, waitedNs = "0"] = contentsOf(file).split(" ");
  return Number(waitedNs) / 1_000_000;
}

/** Of the main thread of a process. */
export const processWaitedMs = (pid: number): number => waitedMs(`/proc/${pid}/schedstat`);
/** Of the calling thread. */
export const ownWaitedMs = (): number => waitedMs("/proc/thread-self/schedstat");

/** Empty if there is no such file: the process has ended, or the system keeps no such figures. */
export function contentsOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
