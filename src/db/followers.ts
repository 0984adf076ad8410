import type { Clock } from "../base/clock.ts";
import { ownTurns } from "../base/own-turn.ts";

/** A table that is read in the order of its commits. */
export interface FollowedTable<Entry> {
  /** The position of the newest row below which no more rows will appear. See `Dialect.newestSettled`. */
  newestSeq(): Promise<number>;
  /** The position of the newest row, which an open transaction may still precede. */
  newestStored(): Promise<number>;
  /** The next rows after a position, up to another. Reads at most `limit`. */
  read(range: { seq: number; until: number; limit: number }): Promise<Entry[]>;
}

/** Follows a table. Each follower reads from the database at its own pace. */
export interface Followers<Entry> {
  /**
   * Yields every row after `afterSeq`, or every new one if null, in the order of commits, until the signal
   * aborts or the followers are closed. A slow follower uses no memory and misses nothing.
   */
  follow(afterSeq: number | null, signal: AbortSignal): AsyncGenerator<Entry, void>;
  /** Yields the same rows as `follow`, as many at a time as were read together: 1 to 100. */
  pages(afterSeq: number | null, signal: AbortSignal): AsyncGenerator<readonly Entry[], void>;
  /** Whether the followers are closed. One that is given a page finds out before its next row. */
  isClosed(): boolean;
  /** The position of the newest row. Following from it yields only new rows. */
  newestSeq(): Promise<number>;
  /** The position to resume after: this one, but for one from another database, which is higher, the newest. */
  resumeAfter(seq: number): Promise<number>;
  /** Wakes the followers to read new rows. */
  wake(): void;
  /** Ends all followers. */
  close(): void;
}

const pageSize = 100;
/** The shortest time between two wake-ups, so that many followers do not slow down the writer. */
const wakeIntervalMs = 20;
/** Followers woken per turn of the event loop, so that requests are handled in between. */
const wokenPerTurn = 10;

export function followers<Entry extends { readonly seq: number }>(
  followed: FollowedTable<Entry>,
  clock: Clock,
  onFollowers: (count: number) => void,
): Followers<Entry> {
  /** The functions that wake the followers. */
  const sleeping = new Set<() => void>();
  const ownTurn = ownTurns();
  let wakeDue = false;
  let closed = false;

  function wakeAll(): void {
    wakeDue = false;
    wakeInTurn([...sleeping]);
  }

  function wakeInTurn(waiting: readonly (() => void)[]): void {
    for (const wakeFollower of waiting.slice(0, wokenPerTurn)) wakeFollower();
    if (waiting.length > wokenPerTurn) {
      setImmediate(() => wakeInTurn(waiting.slice(wokenPerTurn)));
    }
  }

  async function* pages(
    afterSeq: number | null,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Entry[], void> {
    let changed = Promise.withResolvers<void>();
    const wakeUp = () => changed.resolve();
    const isOver = () => closed || signal.aborted;
    signal.addEventListener("abort", wakeUp, { once: true });
    sleeping.add(wakeUp);
    onFollowers(sleeping.size);
    try {
      let seq = afterSeq;
      while (!isOver()) {
        // Replaced before reading, so that a commit during the read wakes the follower at once.
        changed = Promise.withResolvers<void>();
        const until = await followed.newestSeq();
        seq ??= until;
        const entries = await followed.read({ seq, until, limit: pageSize });
        if (isOver()) return;
        seq = entries.at(-1)?.seq ?? seq;
        if (entries.length > 0) yield entries;
        // Entries that a follower skips would otherwise be read without a pause, however many there are.
        await (entries.length < pageSize ? changed.promise : ownTurn());
      }
    } catch (error) {
      // A read that fails because of the stop is not an error.
      if (!isOver()) throw error;
    } finally {
      signal.removeEventListener("abort", wakeUp);
      sleeping.delete(wakeUp);
      onFollowers(sleeping.size);
    }
  }

  return {
    async *follow(afterSeq, signal) {
      for await (const entries of pages(afterSeq, signal)) {
        for (const entry of entries) {
          if (closed || signal.aborted) return;
          yield entry;
        }
      }
    },
    pages,
    isClosed: () => closed,
    newestSeq: () => followed.newestSeq(),
    async resumeAfter(seq) {
      return seq <= (await followed.newestStored()) ? seq : followed.newestSeq();
    },
    wake() {
      if (wakeDue) return;
      wakeDue = true;
      clock.after(wakeIntervalMs, wakeAll);
    },
    close() {
      closed = true;
      wakeAll();
    },
  };
}
