import { defineTable, type Stored } from "../../db/table.ts";

/** What is refused although it was signed: one token, or all of a subject from before a time. */
export const revocationsTable = defineTable("revocations", {
  /** SHA-256 in hex: of what a token signs, or of a subject, which may be an e-mail address at an identity provider. */
  id: "text: pseudonym",
  /** Tokens that were issued later are valid. */
  createdAt: "instant",
  /** When every token that it refuses has expired. */
  expiresAt: "instant",
});

export interface Revocation extends Stored<typeof revocationsTable> {}
