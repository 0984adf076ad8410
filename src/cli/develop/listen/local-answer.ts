import { pause, systemClock } from "../../../base/clock.ts";
import { beginningOf } from "../../kit/event-source.ts";
import { isRefused, reasonOf } from "../../kit/request.ts";

/** What the local address answered. */
interface LocalAnswer {
  /** Null if there was no response. */
  readonly status: number | null;
  /** Why there was none, otherwise null. */
  readonly error: string | null;
  readonly durationMs: number;
}

/** How long a local program may take. Longer than any provider waits. */
const timeoutMs = 30_000;
/** Delay before a local address that refuses connections is tried again. */
const refusedRetryMs = 1_000;

/**
 * Posts a delivery to the local address. Follows no redirect. If nothing listens there, calls `onWaiting` once
 * and tries again until something does: a program that restarts misses nothing. Returns null if the signal
 * aborts first.
 */
export async function localAnswer(
  to: string,
  makeRequest: () => { readonly headers: Readonly<Record<string, string>> },
  bytes: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
  onWaiting: () => void,
): Promise<LocalAnswer | null> {
  let isWaiting = false;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const since = () => Math.round(performance.now() - startedAt);
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(to, {
        method: "POST",
        headers: { ...makeRequest().headers },
        body: bytes,
        redirect: "manual",
        // A small compressed response could fill the memory.
        decompress: false,
        signal: AbortSignal.any([signal, timeout]),
      });
      // Nothing of it is shown.
      await beginningOf(response);
      return { status: response.status, error: null, durationMs: since() };
    } catch (error) {
      if (signal.aborted) return null;
      if (!isRefused(error)) {
        const reason = timeout.aborted
          ? `no response within ${timeoutMs / 1_000} s`
          : reasonOf(error);
        return { status: null, error: reason, durationMs: since() };
      }
      if (!isWaiting) onWaiting();
      isWaiting = true;
      await pause(systemClock, refusedRetryMs, signal);
    }
  }
  return null;
}
