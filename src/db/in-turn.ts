import type { Storage } from "./storage.ts";

let lastSlice: Promise<unknown> = Promise.resolve();

/** Runs one slice of a long read per turn of the event loop, however many reads there are at the same time. */
export function inTurn<Result>(slice: () => Promise<Result>): Promise<Result> {
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

function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
