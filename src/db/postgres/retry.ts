import { isTransient } from "./errors.ts";

const firstDelayMs = 20;
const longestDelayMs = 500;

/** Runs `work` and retries transient errors for at most `patienceMs`. Throws the last error. */
export async function retryTransient<Result>(
  patienceMs: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const deadlineMs = performance.now() + patienceMs;
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || performance.now() + delayMs > deadlineMs) throw error;
      // Jitter, so that two colliding transactions do not collide again.
      await Bun.sleep(delayMs * (0.5 + Math.random()));
    }
  }
}
