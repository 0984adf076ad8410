import { inTurn } from "./in-turn.ts";

/** The most rows of a list that are counted in one turn of the event loop. */
export const rowsPerSlice = 2_000;

/** Counts a list slice by slice, from its start. */
export interface SlicedCount<Position> {
  /** The position of the last row of the slice that starts after `from`; undefined: the slice is the last one. */
  lastOfSlice(from: Position | null): Promise<Position | undefined>;
  /** How many rows of the list are after `from`, up to and including `last`. Null: no limit. */
  count(from: Position | null, last: Position | null): Promise<number>;
}

/**
 * Counts a list without blocking the event loop: SQLite reads on this thread, and counting a million rows takes
 * seconds. Each row is counted at most once, and rows that are added meanwhile are not counted.
 */
export async function countInSlices<Position>(list: SlicedCount<Position>): Promise<number> {
  let total = 0;
  for (let from: Position | null = null; ;) {
    const start: Position | null = from;
    const last = await inTurn(async () => {
      const end = await list.lastOfSlice(start);
      total += await list.count(start, end ?? null);
      return end;
    });
    if (last === undefined) return total;
    from = last;
  }
}
