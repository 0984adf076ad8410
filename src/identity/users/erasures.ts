import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { sha256 } from "../../base/crypto.ts";
import { AppError } from "../../base/errors.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { erasuresSince, insertErasure, requireNotErased } from "./erasures.sql.ts";

/** The ids of erased users, so that a token from before creates nothing under one. */
export interface Erasures {
  /** Stores tombstones, in one transaction with other writes. Repeatable. */
  add(userIds: readonly string[], ...others: readonly Write<unknown>[]): Promise<void>;
  has(userId: string): Promise<boolean>;
}

/** The error for a caller who was erased after the token was checked. */
export const erasedCaller = new AppError(
  "invalid-token",
  "The access token is not valid. Get a new one.",
);

/**
 * The last write of a transaction in the name of a caller. Throws `erasedCaller` if the caller was erased, on whatever
 * instance. Entries of the audit list check it too.
 */
export function notErased({ actor }: Pick<Context, "actor">): Write<unknown> {
  return write(requireNotErased, { tombstones: [sha256(actor.id)] }, erasedCaller);
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
    async add(userIds, ...others) {
      const createdAt = new Date(clock.now());
      const tombstones = userIds.map((userId) =>
        write(insertErasure, { id: sha256(userId), createdAt }),
      );
      await storage.atomically(...others, ...tombstones);
      await read();
    },
    async has(userId) {
      const ids = await current();
      return ids.size > 0 && ids.has(sha256(userId));
    },
  };
}
