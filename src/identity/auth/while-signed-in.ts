import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";

/** Timers are limited to 2³¹ − 1 ms (24 days), so sessions are too. */
const longestMs = 2 ** 31 - 1;
/** How often a stream asks whether its access was ended. */
const checkMs = 30_000;

/**
 * Yields the items of `follow` until the token expires or is revoked, the client disconnects or the source ends.
 * `follow` gets a signal, because a generator that waits for its next item does not notice `return()`
 * until that item arrives, which may be never. `onEnd` is called at the end, maybe more than once.
 */
export function whileSignedIn<Item>(
  { expiresAt, whyEnded }: Context,
  clock: Clock,
  follow: (signal: AbortSignal) => AsyncGenerator<Item, void>,
  onEnd: () => void = () => {},
): AsyncIterableIterator<Item> {
  const ended = new AbortController();
  const items = follow(ended.signal);
  let cancelCheck = () => {};
  function check(): void {
    const leftMs = expiresAt.getTime() - clock.now();
    if (leftMs <= 0) end();
    else
      cancelCheck = clock.after(
        Math.min(leftMs, whyEnded ? checkMs : longestMs),
        () => void checkAgain(),
      );
  }
  async function checkAgain(): Promise<void> {
    // While the database cannot be read, streams stay open.
    if (whyEnded && (await whyEnded().catch(() => null)) !== null) end();
    else if (!ended.signal.aborted) check();
  }
  function end(): void {
    cancelCheck();
    ended.abort();
    onEnd();
  }
  check();
  async function finish(): Promise<IteratorReturnResult<undefined>> {
    end();
    await items.return();
    return { done: true, value: undefined };
  }
  const iterator: AsyncIterableIterator<Item> = {
    async next() {
      try {
        const result = await items.next();
        if (result.done !== true && !ended.signal.aborted) return result;
      } catch (error) {
        end();
        throw error;
      }
      return finish();
    },
    return: finish,
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
