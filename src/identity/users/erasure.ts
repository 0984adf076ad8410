import { defineTable, type Stored } from "../../db/table.ts";

/** Tombstones of erased users: nothing is accepted under their ids again. */
export const erasuresTable = defineTable("erasures", {
  /** SHA-256 of the user's id, in hex: the id itself may be an e-mail address at an identity provider. */
  id: "text: pseudonym",
  createdAt: "instant",
});

export interface Erasure extends Stored<typeof erasuresTable> {}
