/** Limits a rate, with bursts of up to one second. Counts whole deliveries. */
interface TokenBucket {
  /** How many may be sent now. `perSecond`: null for no limit. */
  available(perSecond: number | null): number;
  take(count: number): void;
  /** Milliseconds until one more may be sent. */
  nextMs(perSecond: number | null): number;
}

/** `now`: milliseconds since the epoch. A clock that is set back delays nothing. */
export function tokenBucket(now: () => number): TokenBucket {
  let tokens: number | null = null;
  let filledAt = now();

  function fill(perSecond: number): number {
    const at = now();
    const earned = (Math.max(0, at - filledAt) / 1_000) * perSecond;
    tokens = Math.min(perSecond, (tokens ?? perSecond) + earned);
    filledAt = at;
    return tokens;
  }

  return {
    available: (perSecond) =>
      perSecond === null ? Number.MAX_SAFE_INTEGER : Math.floor(fill(perSecond) + 1e-9),
    take(count) {
      if (tokens !== null) tokens -= count;
    },
    nextMs(perSecond) {
      if (perSecond === null) return 0;
      return Math.ceil(((1 - fill(perSecond)) / perSecond) * 1_000);
    },
  };
}
