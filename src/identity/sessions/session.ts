import type { Role } from "../../base/context.ts";
import { defineTable } from "../../db/table.ts";

/** A browser that is signed in to the console. */
export interface ConsoleSession {
  readonly id: `ses_${string}`;
  /** Who signed in: the id of a user or client, or `skyhook-console` for the link of the command line. */
  readonly actor: string;
  readonly roles: readonly Role[];
  /** The address that signed in. */
  readonly address: string;
  readonly userAgent: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A session as stored. The cookie itself is not, so that a copy of the database opens no session. */
export interface StoredSession extends ConsoleSession {
  /** SHA-256 of the cookie's value, in hex. */
  readonly hash: string;
}

export const sessionsTable = defineTable<StoredSession>("sessions", {
  id: "text",
  hash: "text",
  actor: "text",
  roles: "json",
  address: "text",
  userAgent: "text",
  createdAt: "instant",
  expiresAt: "instant",
});
