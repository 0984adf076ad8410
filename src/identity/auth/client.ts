import { roles } from "../../base/context.ts";
import { defineTable, type Stored } from "../../db/table.ts";
import { listOf, prefixedId, word } from "../../web/schema.ts";

/** Programs that get tokens with the client-credentials grant (RFC 6749 section 4.4). */
export const clientsTable = defineTable("clients", {
  /** The `client_id`. */
  id: prefixedId("cli_"),
  name: "text: text",
  /**
   * SHA-256 in hex. The secret is 32 random bytes, shown once and never stored. A slow hash protects
   * secrets that can be guessed; this one cannot.
   */
  secretHash: "text: secret",
  roles: listOf(word(roles)),
  createdAt: "instant",
});

export interface Client extends Stored<typeof clientsTable> {}
