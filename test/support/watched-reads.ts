import type { Storage } from "../../src/db/storage.ts";

/** Calls `seen` with each read of a storage, before its rows are returned. Returns the end of that. */
export function watchReads(
  storage: Storage,
  seen: (statement: unknown, rows: readonly unknown[]) => unknown,
): () => void {
  const all = storage.all.bind(storage);
  const watched: typeof all = async (...args) => {
    const rows = await all(...args);
    await seen(args[0], rows);
    return rows;
  };
  storage.all = watched;
  return () => void (storage.all = all);
}

/** Whether rows are of a slice of a count. */
export const areCounted = ([first]: readonly unknown[]) =>
  typeof first === "object" && first !== null && "total" in first;
