import { isTransient } from "./errors.ts";

const firstDelayMs = 20;
const longestDelayMs = 500;

/** Does `work`, again while it fails with a transient error, for `patienceMs` at most. Throws the last error. */
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
      // Two that collided do not meet again at the same moment.
      await Bun.sleep(delayMs * (0.5 + Math.random()));
    }
  }
}
