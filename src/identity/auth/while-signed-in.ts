import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";

/** Timers reach 24 days; no token lives longer for us. */
const longestMs = 2 ** 31 - 1;

/**
 * What `follow` yields, until its token ends, the client goes away, or the source ends. A plain
 * generator would hear that it is to end only when its next item comes, which may be never: hence the
 * signal.
 */
export function whileSignedIn<Item>(
  { expiresAt }: Context,
  clock: Clock,
  follow: (signal: AbortSignal) => AsyncGenerator<Item, void>,
): AsyncIterableIterator<Item> {
  const over = new AbortController();
  const items = follow(over.signal);
  const cancelExpiry = clock.after(
    Math.min(Math.max(0, expiresAt.getTime() - clock.now()), longestMs),
    () => over.abort(),
  );
  const iterator: AsyncIterableIterator<Item> = {
    async next() {
      const result = await items.next();
      if (result.done === true) cancelExpiry();
      return over.signal.aborted ? { done: true, value: undefined } : result;
    },
    async return() {
      cancelExpiry();
      over.abort();
      await items.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
