import { setNewest } from "../base/bounded-map.ts";
import type { Clock } from "../base/clock.ts";
import { type Context, isOperator, type Session } from "../base/context.ts";
import { AppError, type ErrorCode } from "../base/errors.ts";
import { isId } from "../base/ids.ts";
import { ownTurns } from "../base/own-turn.ts";
import { subscriber } from "../base/subscriber.ts";
import type { LimitedKind } from "../web/client-address.ts";
import type { Left } from "../web/errors.ts";

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

/** Limits what a caller does, in memory, so that one caller cannot keep the server busy. */
export interface RequestLimiter {
  /** Counts. Throws `too-many-requests`. */
  count(ctx: Pick<Context, "actor">, kind: LimitedKind): Left;
}

/** The writes of a user in a minute: no person makes twenty in a second. */
const maxWritesOfUser = 1_200;
/** The writes of an operator, an admin or a client in a minute. These are programs too. */
const maxWrites = 6_000;
/** Searches, totals, statistics, previews and exports of a caller in a minute. Each may take several milliseconds. */
const maxCostlyReads = 600;

export function requestLimiter(clock: Clock): RequestLimiter {
  const error = ["too-many-requests", "You sent too many requests. Wait, then retry."] as const;
  const ofUsers = counter(clock, "writes", maxWritesOfUser, error);
  const ofPrograms = counter(clock, "writes", maxWrites, error);
  const reads = counter(clock, "costly-reads", maxCostlyReads, error);
  return {
    count(ctx, kind) {
      const writes = isUser(ctx) ? ofUsers : ofPrograms;
      return (kind === "writes" ? writes : reads)(ctx.actor.id);
    },
  };
}

/** Whether the caller is a user: neither an operator nor a client. */
function isUser(ctx: Pick<Context, "actor">): boolean {
  return !isOperator(ctx) && !isId("cli", ctx.actor.id);
}

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

/** Limits the processor time of users, and of requests without a token, in memory, so that none keeps the server busy. */
export interface WorkLimiter {
  /**
   * Counts work before it is done, in fields of a response, and resolves in a turn of the event loop of its own unless
   * it is little. 0: a part of what was counted. Throws `too-many-requests` if the address or user has caused as much as
   * is allowed. Operators, admins and clients are not counted, nor is null.
   */
  begin(by: string | Session | null, fields: number): Promise<void>;
}

/** The work of one address or user in ten seconds. A field takes 3 µs or a little more: this is a quarter of a processor. */
const maxFields = 800_000;
/** Short, because an address can cause all of its work at once. */
const workSeconds = 10;
/** Less takes hardly longer than a turn of the event loop. */
const minFieldsOfTurn = 200;

export function workLimiter(clock: Clock): WorkLimiter {
  const error = [
    "too-many-requests",
    "Your requests took too much time. Wait, then retry.",
  ] as const;
  const ofStrangers = counter(clock, "work", maxFields, error, subscriber, workSeconds);
  const ofUsers = counter(clock, "work", maxFields, error, undefined, workSeconds);
  const ownTurn = ownTurns();
  return {
    async begin(by, fields) {
      if (typeof by === "string" && fields > 0) ofStrangers(by, fields);
      else if (by !== null && typeof by !== "string" && isUser(by)) ofUsers(by.actor.id, fields);
      if (fields === 0 || fields >= minFieldsOfTurn) await ownTurn();
    },
  };
}

/** Throws if a key exceeds the limit. */
type Count = (key: string, amount?: number) => Left;

function counter(
  clock: Clock,
  name: string,
  limit: number,
  [code, detail]: readonly [ErrorCode, string],
  keyOf = (key: string) => key,
  seconds = windowSeconds,
): Count {
  const quota = { name, limit, windowSeconds: seconds };
  const counted = limiter(clock, limit, keyOf, seconds);
  return (key, amount = 1) => {
    const isAllowed = counted.fail(key, amount);
    const left = { quota, ...counted.left(key) };
    if (isAllowed) return left;
    throw new AppError(code, detail, { retryAfterSeconds: left.seconds, quota });
  };
}

/** Uses a fixed window that starts with the first failure of a key, which `keyOf` makes of the counted text. */
function limiter(
  clock: Clock,
  limit: number,
  keyOf: (counted: string) => string,
  seconds = windowSeconds,
): FailureLimiter & { left(counted: string): Omit<Left, "quota"> } {
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

  const secondsOf = ({ endsAtMs }: Window) =>
    Math.max(1, Math.ceil((endsAtMs - clock.now()) / 1_000));

  return {
    left(counted) {
      const window = current(keyOf(counted));
      if (window === undefined) return { remaining: limit, seconds };
      return { remaining: Math.max(0, limit - window.failures), seconds: secondsOf(window) };
    },
    blockedSeconds(address) {
      // The common case, without recent failures. Skips parsing the address.
      if (windows.size === 0) return null;
      const window = current(keyOf(address));
      if (window === undefined || window.failures < limit) return null;
      return secondsOf(window);
    },
    fail(address, count = 1) {
      const key = keyOf(address);
      const window = current(key) ?? open(key);
      window.failures += count;
      return window.failures <= limit;
    },
  };
}
