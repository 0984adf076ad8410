import type { Cancel, Clock } from "./clock.ts";

/** Work in rounds: one at a time, the next when it is due or when the task is woken. */
export interface BackgroundTask {
  /** `delayMs`: until the first round; null: until the task is woken. */
  start(delayMs?: number | null): void;
  /** Begins a round at once or, during a round, another one after it. Does nothing unless the task is started. */
  wake(): void;
  /** Aborts the signal of the running round, waits for it, and begins no more. */
  stop(): Promise<void>;
}

/** `round` returns the milliseconds until the next one; null: until the task is woken. It must not throw. */
export function backgroundTask(
  clock: Clock,
  round: (signal: AbortSignal) => Promise<number | null>,
): BackgroundTask {
  /** Null while stopped. */
  let stopping: AbortController | null = null;
  let running: Promise<void> | null = null;
  let isWoken = false;
  let cancel: Cancel = () => {};

  function wake(): void {
    if (stopping === null) return;
    isWoken = true;
    running ??= run(stopping.signal);
  }

  async function run(signal: AbortSignal): Promise<void> {
    cancel();
    let delayMs: number | null = null;
    while (isWoken && !signal.aborted) {
      isWoken = false;
      delayMs = await round(signal);
    }
    running = null;
    if (!signal.aborted && delayMs !== null) cancel = clock.after(delayMs, wake);
  }

  return {
    start(delayMs = 0) {
      stopping = new AbortController();
      if (delayMs === 0) wake();
      else if (delayMs !== null) cancel = clock.after(delayMs, wake);
    },
    wake,
    async stop() {
      stopping?.abort();
      stopping = null;
      cancel();
      await running;
    },
  };
}
