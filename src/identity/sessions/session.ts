import type { Static } from "@sinclair/typebox";

import { roles } from "../../base/context.ts";
import { defineTable, personal, type Stored } from "../../db/table.ts";
import { instant, listOf, nullable, prefixedId, resource, text, word } from "../../web/schema.ts";

/** A browser that is signed in to the console, a token of an agent, or an API key. */
export const sessionKinds = ["console", "agent", "key"] as const;
/** What an agent may do beyond reading: tools that write, and the bodies of webhooks. */
export const allowances = ["writes", "bodies"] as const;
export type Allowance = (typeof allowances)[number];

export const sessionSchema = resource(
  "ConsoleSession",
  "A browser that is signed in to the console, a token for an agent, or an API key.",
  {
    id: prefixedId("ses_", "The session's id."),
    kind: word(
      sessionKinds,
      "`agent`: a token that is accepted at `/mcp` only. `key`: an API key.",
    ),
    allowed: listOf(word(allowances), "What an agent may do beyond reading."),
    actor: personal(
      "pseudonym",
      text(
        "The id of a user or client; `console:` and the name for a link of `skyhook console`.",
        "console:Ada",
      ),
    ),
    roles: listOf(word(roles), "What it may do."),
    address: personal("identifies", text("The client's address at sign-in.", "192.0.2.1")),
    name: personal(
      "identifies",
      text("The browser, as it names itself; the name of a token for an agent or of an API key."),
    ),
    createdAt: instant("When it signed in."),
    expiresAt: instant(
      "At most 12 hours later, 30 days for a token of an agent, 365 days for an API key.",
    ),
    lastUsedAt: nullable(
      instant(
        "When the token or key was last used, to five minutes; null if it was not used, and for browsers.",
      ),
    ),
  },
);

export interface ConsoleSession extends Static<typeof sessionSchema> {}

export const sessionsTable = defineTable("sessions", {
  ...sessionSchema.properties,
  /** SHA-256 of the cookie's value, the token or the key, in hex. The value itself is not stored, so that a copy of the database opens no session. */
  hash: "text: secret",
});

export interface StoredSession extends Stored<typeof sessionsTable> {}
