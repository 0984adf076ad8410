import type { Clock } from "../../base/clock.ts";
import { sha256 } from "../../base/sha256.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { erasuresSince, insertErasure } from "./erasures.sql.ts";

/** The ids of erased users, so that a token from before creates nothing under one. */
export interface Erasures {
  /** Returns the tombstone. Repeatable. */
  add(userId: string): Promise<string>;
  has(userId: string): Promise<boolean>;
}

/** How long another process may accept tokens of a user that this one has erased, and the reverse. */
const refreshMs = 5_000;
/** No token of Skyhook lives longer. */
const longestTokenMs = 366 * 86_400_000;

export function erasures(storage: Storage, clock: Clock): Erasures {
  let known: ReadonlySet<string> | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;

  async function read(): Promise<ReadonlySet<string>> {
    const now = clock.now();
    readAtMs = now;
    const found = await storage.all(erasuresSince, { since: new Date(now - longestTokenMs) });
    known = new Set(found.map(({ id }) => id));
    return known;
  }

  /** While the database cannot be read, those that are known. A clock that was set back does not matter. */
  function current(): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    if (known === null) return read();
    const last = known;
    return Math.abs(clock.now() - readAtMs) < refreshMs ? last : read().catch(() => last);
  }

  return {
    async add(userId) {
      const id = sha256(userId);
      await storage.atomically(write(insertErasure, { id, createdAt: new Date(clock.now()) }));
      await read();
      return id;
    },
    async has(userId) {
      const ids = await current();
      return ids.size > 0 && ids.has(sha256(userId));
    },
  };
}
