/** Limits how many deliveries are sent in any second. */
interface RateLimit {
  /** How many may be claimed now. `perSecond`: null for no limit. */
  available(perSecond: number | null): number;
  /** Counts a delivery from now on. Call the result when it is sent, from which the second is measured. */
  take(): () => void;
  /** Milliseconds until one more may be claimed. */
  nextMs(perSecond: number | null): number;
}

const windowMs = 1_000;

/** `now`: milliseconds since the epoch. A clock that is set back delays nothing for more than two seconds. */
export function rateLimit(now: () => number): RateLimit {
  /** When each delivery of the last second was sent; null if that has yet to happen. */
  let taken: { sentAt: number | null }[] = [];

  function forget(): void {
    const at = now();
    taken = taken.filter(({ sentAt }) => sentAt === null || Math.abs(at - sentAt) < windowMs);
  }

  return {
    available(perSecond) {
      forget();
      return perSecond === null
        ? Number.MAX_SAFE_INTEGER
        : Math.max(0, Math.floor(perSecond) - taken.length);
    },
    take() {
      const one: (typeof taken)[number] = { sentAt: null };
      taken.push(one);
      return () => (one.sentAt ??= now());
    },
    nextMs(perSecond) {
      if (this.available(perSecond) > 0) return 0;
      const waits = taken.map(({ sentAt }) =>
        sentAt === null ? windowMs : sentAt + windowMs - now(),
      );
      // So many must be forgotten until one is free.
      const excess = taken.length - Math.floor(perSecond ?? 0);
      return waits.toSorted((one, other) => one - other)[excess] ?? 0;
    },
  };
}
