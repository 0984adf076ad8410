/** The requests of an open loop: the load does not wait for a slow server. */
export interface OpenLoopPlan {
  readonly ratePerSecond: number;
  readonly connections: number;
  /** The number of requests. */
  readonly count: number;
  /** Requests before this one are the warm-up and are not recorded. */
  readonly firstTimed: number;
  send(connection: number, request: number): void;
  /** How long after its due time a timed request was sent although a connection was free. */
  sentLate(lateMs: number): void;
}

interface OpenLoop {
  /** When a request is due, in milliseconds after the start. */
  dueMs(request: number): number;
  /** Sends what is due, as far as connections are free. Returns when to call again, or null if a response must come first. */
  sendDue(nowMs: number): number | null;
  /**
   * The response on a connection is complete, and the connection is free again. Returns the time since the
   * request was due, not since it was sent; null for the warm-up.
   */
  answer(connection: number, nowMs: number): number | null;
  /** Whether all requests have been answered. */
  isDone(): boolean;
}

/**
 * A load of requests that are due at fixed times, `request / ratePerSecond` seconds after the start. A load
 * that sends a request only after the previous response also waits when the server does, and so measures one
 * slow request where users would have seen hundreds (coordinated omission). Here, a request that finds no
 * free connection waits for one, and that wait counts. Has no clock and no sockets; times are in milliseconds
 * after the start.
 */
export function openLoop(plan: OpenLoopPlan): OpenLoop {
  // A queue, so that all connections are in use, as with many clients.
  const free = Array.from({ length: plan.connections }, (_, connection) => connection);
  const requestOn = new Map<number, number>();
  const dueMs = (request: number) => (request * 1_000) / plan.ratePerSecond;
  /** Since when a connection has been free without interruption. */
  let freeSinceMs = 0;
  let next = 0;
  let answered = 0;
  return {
    dueMs,
    sendDue(nowMs) {
      while (next < plan.count && dueMs(next) <= nowMs) {
        const connection = free.shift();
        if (connection === undefined) return null;
        if (next >= plan.firstTimed) plan.sentLate(nowMs - Math.max(dueMs(next), freeSinceMs));
        requestOn.set(connection, next);
        plan.send(connection, next);
        next += 1;
      }
      return next < plan.count ? dueMs(next) : null;
    },
    answer(connection, nowMs) {
      const request = requestOn.get(connection);
      if (request === undefined) throw new Error("A response came without a request");
      requestOn.delete(connection);
      if (free.length === 0) freeSinceMs = nowMs;
      free.push(connection);
      answered += 1;
      return request < plan.firstTimed ? null : nowMs - dueMs(request);
    },
    isDone: () => answered === plan.count,
  };
}
