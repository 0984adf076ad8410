/** Cancels a timer. Does nothing after the timer has fired. */
export type Cancel = () => void;

/** The program's only source of time, so that tests can replace it with a clock they control. */
export interface Clock {
  /** Milliseconds since the epoch, a whole number. */
  now(): number;
  /** Runs `action` once, `delayMs` from now, unless cancelled. Never keeps the process alive. */
  after(delayMs: number, action: () => void): Cancel;
}

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after a time, or when the signal aborts. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted === true) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  const end = () => resolve();
  signal?.addEventListener("abort", end);
  return promise.finally(() => {
    cancel();
    // A signal that lives for hours would gather thousands of listeners.
    signal?.removeEventListener("abort", end);
  });
}
