import { setNewest } from "../base/bounded-map.ts";
import type { Clock } from "../base/clock.ts";
import { type Context, isOperator } from "../base/context.ts";
import { AppError, type ErrorCode } from "../base/errors.ts";
import { ownTurns } from "../base/own-turn.ts";
import { subscriber } from "../base/subscriber.ts";

/** The authentication failures that an address may cause in one window, as specified. */
export const maxFailures = 20;
export const windowSeconds = 60;

/** The error for requests from a blocked address. */
export function tooManyFailures(limiter: FailureLimiter, address: string): AppError {
  return new AppError(
    "too-many-auth-failures",
    "Too many failed attempts from this address. Wait, then retry.",
    {
      retryAfterSeconds: limiter.blockedSeconds(address) ?? windowSeconds,
      quota: { name: "auth-failures", limit: maxFailures, windowSeconds },
    },
  );
}

/** Throws `too-many-auth-failures` for a blocked address. */
export function requireUnblocked(limiter: FailureLimiter, address: string): void {
  if (limiter.blockedSeconds(address) !== null) throw tooManyFailures(limiter, address);
}

/** The addresses tracked at once. When more addresses fail, the oldest are dropped first. */
const maxAddresses = 50_000;

/** Counts authentication failures by client address, in memory: a restart resets the counts. */
export interface FailureLimiter {
  /** Seconds until the block ends, at least 1; null if the address is not blocked. */
  blockedSeconds(address: string): number | null;
  /** Counts a failure, or several. False if they exceed the limit. */
  fail(address: string, count?: number): boolean;
}

interface Window {
  failures: number;
  readonly endsAtMs: number;
}

/** Counts failures by address, IPv6 addresses by /64. */
export function failureLimiter(clock: Clock): FailureLimiter {
  return limiter(clock, maxFailures, subscriber);
}

/** Limits what a caller does, in memory. */
export interface CallerLimiter {
  /** Counts. Throws if the caller has done as much as is allowed in a minute. */
  count(ctx: Pick<Context, "actor">): void;
}

/** Each test makes this server sign and store an event, or send a request. A person clicks no faster. */
const maxTests = 20;

/** Limits test events and test notifications. Throws `too-many-tests`. */
export function testLimiter(clock: Clock): CallerLimiter {
  const error = ["too-many-tests", "You sent too many tests. Wait, then retry."] as const;
  const count = counter(clock, "tests", maxTests, error);
  return { count: ({ actor }) => count(actor.id) };
}

/** The audited writes of a user in a minute. Users change a few destinations, by hand. */
const maxUserWrites = 30;
/** The audited writes of an operator or admin in a minute. They also use scripts. */
const maxOperatorWrites = 600;

/** Limits audited writes, so that no caller fills the audit list. Throws `too-many-requests`. */
export function writeLimiter(clock: Clock): CallerLimiter {
  const error = ["too-many-requests", "You made too many changes. Wait, then retry."] as const;
  const ofUsers = counter(clock, "changes", maxUserWrites, error);
  const ofOperators = counter(clock, "changes", maxOperatorWrites, error);
  return { count: (ctx) => (isOperator(ctx) ? ofOperators : ofUsers)(ctx.actor.id) };
}

/** The tokens of a subject that are revoked one by one in a minute: each is remembered until it expires. */
const maxRevocations = 60;

/** Limits revocations of tokens, by whose they are. Throws `too-many-requests`. */
export function revocationLimiter(clock: Clock): CallerLimiter {
  const error = ["too-many-requests", "Too many tokens were revoked. Wait, then retry."] as const;
  const count = counter(clock, "revocations", maxRevocations, error);
  return { count: ({ actor }) => count(actor.id) };
}

/** Limits the calls of agents, in memory, so that one in a loop does not fill the audit list or stop others. */
export interface CallLimiter {
  /**
   * Counts a call, and resolves in a turn of the event loop of its own. Throws `too-many-requests` if the caller has
   * made as many calls as are allowed in a minute.
   */
  begin(agent: { readonly caller: string }): Promise<void>;
}

/** The calls of a token for an agent, or of a user's agents, in a minute. */
const maxCalls = 600;

export function callLimiter(clock: Clock): CallLimiter {
  const error = ["too-many-requests", "You made too many calls. Wait, then retry."] as const;
  const count = counter(clock, "calls", maxCalls, error);
  const ownTurn = ownTurns();
  return {
    async begin({ caller }) {
      count(caller);
      await ownTurn();
    },
  };
}

/** Limits the processor time of requests without a token, in memory, so that no stranger keeps the server busy. */
export interface WorkLimiter {
  /**
   * Counts work before it is done, in fields of a response, and resolves in a turn of the event loop of its own unless
   * it is little. 0: a part of what was counted. Throws `too-many-requests` if the address has caused as much as is
   * allowed. A null address is not counted.
   */
  begin(address: string | null, fields: number): Promise<void>;
}

/** The work of one address in ten seconds. A field takes 3 µs or a little more: this is a quarter of a processor. */
const maxFields = 800_000;
/** Short, because an address can cause all of its work at once. */
const workSeconds = 10;
/** Less takes hardly longer than a turn of the event loop. */
const minFieldsOfTurn = 200;

export function workLimiter(clock: Clock): WorkLimiter {
  const detail = "Requests without a token from your address took too much time. Wait, then retry.";
  const error = ["too-many-requests", detail] as const;
  const count = counter(clock, "work", maxFields, error, subscriber, workSeconds);
  const ownTurn = ownTurns();
  return {
    async begin(address, fields) {
      if (address !== null && fields > 0) count(address, fields);
      if (fields === 0 || fields >= minFieldsOfTurn) await ownTurn();
    },
  };
}

/** Throws if a key exceeds the limit. */
type Count = (key: string, amount?: number) => void;

function counter(
  clock: Clock,
  name: string,
  limit: number,
  [code, detail]: readonly [ErrorCode, string],
  keyOf = (key: string) => key,
  seconds = windowSeconds,
): Count {
  const counted = limiter(clock, limit, keyOf, seconds);
  return (key, amount = 1) => {
    if (counted.fail(key, amount)) return;
    throw new AppError(code, detail, {
      retryAfterSeconds: counted.blockedSeconds(key) ?? seconds,
      quota: { name, limit, windowSeconds: seconds },
    });
  };
}

/** Uses a fixed window that starts with the first failure of a key, which `keyOf` makes of the counted text. */
function limiter(
  clock: Clock,
  limit: number,
  keyOf: (counted: string) => string,
  seconds = windowSeconds,
): FailureLimiter {
  // In order of the first failure, which is also the order in which windows end.
  const windows = new Map<string, Window>();

  function current(key: string): Window | undefined {
    const window = windows.get(key);
    if (window === undefined) return undefined;
    const leftMs = window.endsAtMs - clock.now();
    // More than a whole window is left only if the clock was set back. Do not extend the block for that.
    if (leftMs > 0 && leftMs <= seconds * 1_000) return window;
    windows.delete(key);
    return undefined;
  }

  function open(key: string): Window {
    const window = { failures: 0, endsAtMs: clock.now() + seconds * 1_000 };
    setNewest(windows, key, window, maxAddresses);
    return window;
  }

  return {
    blockedSeconds(address) {
      // The common case, without recent failures. Skips parsing the address.
      if (windows.size === 0) return null;
      const window = current(keyOf(address));
      if (window === undefined || window.failures < limit) return null;
      return Math.max(1, Math.ceil((window.endsAtMs - clock.now()) / 1_000));
    },
    fail(address, count = 1) {
      const key = keyOf(address);
      const window = current(key) ?? open(key);
      window.failures += count;
      return window.failures <= limit;
    },
  };
}
