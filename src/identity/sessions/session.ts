import type { Static } from "@sinclair/typebox";

import { roles } from "../../base/context.ts";
import { defineTable, type Stored } from "../../db/table.ts";
import { instant, listOf, prefixedId, resource, text, word } from "../../web/schema.ts";

export const sessionSchema = resource(
  "ConsoleSession",
  "A browser that is signed in to the console.",
  {
    id: prefixedId("ses_", "The session's id."),
    actor: text(
      "The id of a user or client; `console:` and the name for a link of `skyhook console`.",
      "console:Ada",
    ),
    roles: listOf(word(roles), "What it may do."),
    address: text("The client's address at sign-in.", "192.0.2.1"),
    userAgent: text("The browser, as it names itself."),
    createdAt: instant("When it signed in."),
    expiresAt: instant("At most 12 hours later."),
  },
);

export interface ConsoleSession extends Static<typeof sessionSchema> {}

export const sessionsTable = defineTable("sessions", {
  ...sessionSchema.properties,
  /** SHA-256 of the cookie's value, in hex. The value itself is not stored, so that a copy of the database opens no session. */
  hash: "text",
});

export interface StoredSession extends Stored<typeof sessionsTable> {}
