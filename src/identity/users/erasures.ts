import type { Clock } from "../../base/clock.ts";
import type { Context } from "../../base/context.ts";
import { sha256 } from "../../base/crypto.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { type EndedAccess, endedCaller } from "./ended-access.ts";
import { insertErasure, requireNotErased } from "./erasures.sql.ts";

/** The ids of erased users, so that a token from before creates nothing under one. */
export interface Erasures {
  /** Stores tombstones, in one transaction with other writes. Repeatable. */
  add(userIds: readonly string[], ...others: readonly Write<unknown>[]): Promise<void>;
}

/**
 * The last write of a transaction in the name of a caller. Throws `endedCaller` if the caller was erased, on whatever
 * instance. Entries of the audit list check it too.
 */
export function notErased({ actor }: Pick<Context, "actor">): Write<unknown> {
  return write(requireNotErased, { tombstones: [sha256(actor.id)] }, endedCaller);
}

export function erasures(storage: Storage, clock: Clock, ended: EndedAccess): Erasures {
  return {
    async add(userIds, ...others) {
      const createdAt = new Date(clock.now());
      const tombstones = userIds.map((userId) =>
        write(insertErasure, { id: sha256(userId), createdAt }),
      );
      await storage.atomically(...others, ...tombstones);
      await ended.refresh();
    },
  };
}
