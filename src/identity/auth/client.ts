import type { Role } from "../../base/context.ts";
import { defineTable } from "../../db/table.ts";

/** A program that gets tokens with the client-credentials grant (RFC 6749 section 4.4). */
export interface Client {
  /** `cli_` and a UUIDv7: the `client_id`. */
  readonly id: `cli_${string}`;
  readonly name: string;
  /**
   * SHA-256 in hex. The secret is 32 random bytes, shown once and never stored. A slow hash protects
   * secrets that can be guessed; this one cannot.
   */
  readonly secretHash: string;
  readonly roles: readonly Role[];
  readonly createdAt: Date;
}

export const clientsTable = defineTable<Client>("clients", {
  id: "text",
  name: "text",
  secretHash: "text",
  roles: "json",
  createdAt: "instant",
});
