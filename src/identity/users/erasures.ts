import type { Context } from "../../base/context.ts";
import { sha256 } from "../../base/crypto.ts";
import { type Write, write } from "../../db/statement.ts";

import { endedCaller } from "./ended-access.ts";
import { insertErasure, requireNotErased } from "./erasures.sql.ts";

/**
 * The last write of a transaction in the name of a caller. Throws `endedCaller` if the caller was erased, on whatever
 * instance. Entries of the audit list check it too.
 */
export function notErased({ actor }: Pick<Context, "actor">): Write<unknown> {
  return write(requireNotErased, { tombstones: [sha256(actor.id)] }, endedCaller);
}

/** Stores the ids of erased users, so that a token from before creates nothing under one. Repeatable. */
export function tombstones(userIds: readonly string[], createdAt: Date): readonly Write<unknown>[] {
  return userIds.map((userId) => write(insertErasure, { id: sha256(userId), createdAt }));
}
