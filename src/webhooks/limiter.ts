import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";

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

/** The address itself, or for IPv6 its /64: what one subscriber commonly holds. */
function subscriber(address: string): string {
  const mapped = ipv4Of(address);
  if (mapped !== null) return mapped;
  // It is a socket's address, or has been read as one: a colon is in those of IPv6 alone.
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.toLowerCase().split("%", 1)[0]?.split("::") ?? [];
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/** The IPv4 address that an IPv6 address stands for (RFC 4291 section 2.5.5.2), or null. */
function ipv4Of(address: string): string | null {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? [];
  if (high === undefined || low === undefined) return null;
  const [upper, lower] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [upper >> 8, upper & 255, lower >> 8, lower & 255].join(".");
}
