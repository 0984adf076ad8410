import { nextTurn } from "../base/own-turn.ts";

import type { Storage } from "./storage.ts";

/** The most rows of a list that are counted in one turn of the event loop. */
export const rowsPerSlice = 2_000;

let lastSlice: Promise<unknown> = Promise.resolve();

/** Runs one slice of a long read per turn of the event loop, however many reads there are at the same time. */
function inTurn<Result>(slice: () => Promise<Result>): Promise<Result> {
  const result = lastSlice.then(nextTurn).then(slice);
  lastSlice = result.catch(() => {});
  return result;
}

/** Like `inTurn` on SQLite, which reads on this thread. On PostgreSQL, slices run at once and at the same time. */
export function inOwnTurn<Result>(
  { dialect }: Pick<Storage, "dialect">,
  slice: () => Promise<Result>,
): Promise<Result> {
  return dialect === "sqlite" ? inTurn(slice) : slice();
}

/**
 * Counts a list slice by slice, from its start, without blocking the event loop: SQLite reads on this thread, and
 * counting a million rows takes seconds. Each row is counted at most once, and rows that are added meanwhile are not
 * counted. `lastOfSlice` returns the position of the last row of the slice that starts after `from`; undefined: the
 * slice is the last one. `count` returns how many rows are after `from`, up to and including `last`; null: no limit.
 */
export async function countInSlices<Position>(
  lastOfSlice: (from: Position | null) => Promise<Position | undefined>,
  count: (from: Position | null, last: Position | null) => Promise<number>,
): Promise<number> {
  let total = 0;
  for (let from: Position | null = null; ;) {
    const start: Position | null = from;
    const last = await inTurn(async () => {
      const end = await lastOfSlice(start);
      total += await count(start, end ?? null);
      return end;
    });
    if (last === undefined) return total;
    from = last;
  }
}
