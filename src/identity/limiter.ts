import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { subscriber } from "../base/subscriber.ts";

/** Authentication failures an address may make in one window; the specification's figures. */
export const maxFailures = 20;
export const windowSeconds = 60;

/** What a blocked address is told. */
export function tooManyFailures(retryAfterSeconds: number): AppError {
  return new AppError("too-many-auth-failures", "Too many attempts of this address failed", {
    retryAfterSeconds,
    quota: { name: "auth-failures", limit: maxFailures, windowSeconds },
  });
}

/** Addresses remembered at once. A flood from more than these forgets the oldest first. */
const maxAddresses = 50_000;

/** Counts authentication failures by client address, in memory: a restart clears it. */
export interface FailureLimiter {
  /** Seconds until the address is heard again, from 1 up; null when it is not blocked. */
  blockedSeconds(address: string): number | null;
  /** Counts a failure. False when the address had used up its failures before this one. */
  fail(address: string): boolean;
}

interface Window {
  failures: number;
  readonly endsAtMs: number;
}

/** A fixed window from an address's first failure on; IPv6 addresses count by /64, as one subscriber. */
export function failureLimiter(clock: Clock): FailureLimiter {
  // In order of their first failure, so in the order in which they end.
  const windows = new Map<string, Window>();

  function current(key: string): Window | undefined {
    const window = windows.get(key);
    if (window === undefined) return undefined;
    const leftMs = window.endsAtMs - clock.now();
    // More than a whole window is left only when the clock was put back: nobody is to pay for that.
    if (leftMs > 0 && leftMs <= windowSeconds * 1_000) return window;
    windows.delete(key);
    return undefined;
  }

  function open(key: string): Window {
    const [oldest] = windows.keys();
    if (windows.size >= maxAddresses && oldest !== undefined) windows.delete(oldest);
    const window = { failures: 0, endsAtMs: clock.now() + windowSeconds * 1_000 };
    windows.set(key, window);
    return window;
  }

  return {
    blockedSeconds(address) {
      // The usual case: nobody has failed of late, and the address need not be read at all.
      if (windows.size === 0) return null;
      const window = current(subscriber(address));
      if (window === undefined || window.failures < maxFailures) return null;
      return Math.max(1, Math.ceil((window.endsAtMs - clock.now()) / 1_000));
    },
    fail(address) {
      const key = subscriber(address);
      const window = current(key) ?? open(key);
      window.failures += 1;
      return window.failures <= maxFailures;
    },
  };
}
