import type { Cancel, Clock } from "../base/clock.ts";

/** Messages up to this size do not count and never wait. */
export const smallBytes = 64 * 1024;
/**
 * The bodies that clients have not read yet: of all streams together, and of all other responses. In memory, a body
 * takes four times its size while its message is made.
 */
export const maxUnreadBytes = 64 * 1024 * 1024;
/** While others wait, a client may take this long to read a message. */
const patienceMs = 10_000;
/** The time between two disconnections, in which the first frees its memory. */
const intervalMs = 1_000;

/** Memory that several streams share. */
export interface StreamBudget {
  /**
   * Waits until so many bytes are free, behind those who came before, and returns a function that frees them. If the
   * signal aborts first, returns at once and reserves nothing. Calls `onOverdue` once if the bytes are not free again
   * after 10 s and others wait for them.
   */
  reserve(bytes: number, signal: AbortSignal, onOverdue: () => void): Promise<() => void>;
}

interface Waiting {
  readonly bytes: number;
  readonly grant: () => void;
}

interface Holder {
  readonly sinceMs: number;
  readonly onOverdue: () => void;
}

/** A message larger than `maxBytes` waits until it is alone. */
export function streamBudget(maxBytes: number, clock: Clock): StreamBudget {
  let freeBytes = maxBytes;
  const waiting: Waiting[] = [];
  /** Those that may still be overdue, the longest first. */
  const holders = new Set<Holder>();
  let cancelCheck: Cancel | null = null;
  let nextCheckMs = Number.NEGATIVE_INFINITY;

  function grantNext(): void {
    for (;;) {
      const [first] = waiting;
      if (first === undefined || first.bytes > freeBytes) break;
      waiting.shift();
      freeBytes -= first.bytes;
      first.grant();
    }
    cancelCheck?.();
    cancelCheck = null;
    const [oldest] = holders;
    if (waiting.length === 0 || oldest === undefined) return;
    const atMs = Math.max(oldest.sinceMs + patienceMs, nextCheckMs, clock.now());
    cancelCheck = clock.after(atMs - clock.now(), () => {
      nextCheckMs = clock.now() + intervalMs;
      holders.delete(oldest);
      oldest.onOverdue();
      grantNext();
    });
  }

  return {
    reserve(wanted, signal, onOverdue) {
      if (wanted <= smallBytes || signal.aborted) return Promise.resolve(() => {});
      const bytes = Math.min(wanted, maxBytes);
      const { promise, resolve } = Promise.withResolvers<() => void>();
      const leave = () => {
        waiting.splice(waiting.indexOf(place), 1);
        resolve(() => {});
        grantNext();
      };
      const place: Waiting = {
        bytes,
        grant() {
          signal.removeEventListener("abort", leave);
          const holder = { sinceMs: clock.now(), onOverdue };
          holders.add(holder);
          let isHeld = true;
          resolve(() => {
            if (!isHeld) return;
            isHeld = false;
            freeBytes += bytes;
            holders.delete(holder);
            grantNext();
          });
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      waiting.push(place);
      grantNext();
      return promise;
    },
  };
}
